package manual

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mayfly/docs"
	"mayfly/internal/fortest"
)

var colors = Style{
	Profile: colorprofile.TrueColor,
	Accent:  ansi.BasicColor(4), Dim: ansi.IndexedColor(245), Code: ansi.RGBColor{R: 200, G: 120, B: 40}, Link: ansi.BasicColor(6),
}

func TestTopics(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../docs/*.md", "../../docs/guides/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal("no pages:", pattern, err)
		}
		files = append(files, found...)
	}
	topics := Topics()
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		n := slices.IndexFunc(topics, func(topic Topic) bool { return topic.Name == name })
		if n < 0 {
			t.Errorf("%s is no topic: does it begin with a title and a one-line summary?", file)
			continue
		}
		topic := topics[n]
		text, err := os.ReadFile(file)
		must(t, err)
		if !strings.HasPrefix(string(text), "# "+topic.Title+"\n\n"+topic.Summary+"\n\n") {
			t.Errorf("%s: want a title and a one-line summary, have %+v", file, topic)
		}
		if len(topic.Title) < 4 || len(topic.Summary) > 76 || !strings.HasSuffix(topic.Summary, ".") || strings.ContainsAny(topic.Title+topic.Summary, "`*[") {
			t.Errorf("%s: title %q, summary %q", file, topic.Title, topic.Summary)
		}
	}
	if len(topics) != len(files) {
		t.Errorf("%d topics of %d pages", len(topics), len(files))
	}
}

func TestPagesFitTheirWidth(t *testing.T) {
	for _, topic := range Topics() {
		source, err := page(topic.Name)
		must(t, err)
		for _, width := range []int{minWidth, 40, 80, 120} {
			if testing.Short() && width > minWidth {
				break
			}
			t.Run(fmt.Sprintf("%s/%d", topic.Name, width), func(t *testing.T) {
				lines, err := Render(topic.Name, width, colors)
				must(t, err)
				for n, line := range lines {
					if w := ansi.StringWidth(line); w > width {
						t.Errorf("line %d is %d wide: %q", n, w, line)
					}
					if strings.Contains(line, "\n") || open(line) {
						t.Errorf("line %d is not whole: %q", n, line)
					}
				}
				// Glamour may cut what does not fit into a table.
				text, fences := ansi.Strip(strings.Join(lines, "\n")), regexp.MustCompile("(?m)^```.*$")
				if got, want := letters(text), letters(fences.ReplaceAllString(fit(source, width), "")); got != want {
					t.Errorf("something was lost: %d letters of %d", len(got), len(want))
				}
				if width != 80 {
					return // a plain page differs at no other
				}
				plain, err := Render(topic.Name, width, Style{})
				must(t, err)
				if strings.Join(plain, "\n") != text || strings.ContainsAny(text, "\x1b\a\r\t"+hyphen) {
					t.Errorf("a plain page has another text, or control characters: %q", text[:300])
				}
			})
		}
	}
}

var must = fortest.Must

// letters are the letters and digits of a text, sorted.
func letters(text string) string {
	found := []rune(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text))
	slices.Sort(found)
	return string(found)
}

// open reports whether a style or a hyperlink goes on after a line.
func open(line string) bool {
	last := regexp.MustCompile(`\x1b\[([0-9;]*)m`).FindAllStringSubmatch(line, -1)
	if n := len(last); n > 0 && strings.Trim(last[n-1][1], "0") != "" {
		return true
	}
	at := strings.LastIndex(line, "\x1b]8;")
	return at >= 0 && !strings.HasPrefix(line[at:], "\x1b]8;;")
}

func TestLinksLeadToPages(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^):#]+)[^)]*\)`)
	guides, err := filepath.Glob("../../docs/guides/*.md")
	must(t, err)
	for _, topic := range Topics() {
		folder := "."
		if slices.Contains(guides, "../../docs/guides/"+topic.Name+".md") {
			folder = "guides"
		}
		text, err := page(topic.Name)
		must(t, err)
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			if _, err := docs.Pages.Open(path.Join(folder, link[1])); err != nil {
				t.Errorf("%s links to %s: %v", topic.Name, link[1], err)
			}
		}
		plain, err := Render(topic.Name, 80, Style{})
		must(t, err)
		if strings.Contains(strings.Join(plain, "\n"), ".md)") {
			t.Errorf("%s shows a link to a file", topic.Name)
		}
	}
}

func TestColours(t *testing.T) {
	want := map[colorprofile.Profile]string{
		colorprofile.TrueColor: "\x1b[38;2;200;120;40m", colorprofile.ANSI256: "\x1b[38;5;", colorprofile.ANSI: "\x1b[34;1m",
	}
	for profile, sequence := range want {
		s := colors
		s.Profile = profile
		lines, err := Render("ci", 80, s)
		must(t, err)
		text := strings.Join(lines, "\n")
		if !strings.Contains(text, sequence) {
			t.Errorf("%v: no %q in %q", profile, sequence, text[:300])
		}
		if profile < colorprofile.TrueColor && strings.Contains(text, "38;2;") {
			t.Errorf("%v has true colours", profile)
		}
	}
}

func TestFit(t *testing.T) {
	tests := []struct {
		name, page string
		width      int
		want       string
	}{
		{"a link to a page", "See [How it scales](scale.md#one) and [ci.md](ci.md).", 40,
			"See How it scales (`mayfly help scale`) and `mayfly help ci`."},
		{"hyphens", "- a\n  --flag", 40, "- a \u2011\u2011flag"},
		{"code", "    mayfly serve --domains inbox.example --smtp :25", 40,
			"    mayfly serve --domains inbox.example\n        --smtp :25"},
		{"a word of code", "    https://mayfly.example/path", 20, "    https://mayfly.e\n        xample/path"},
		{"code far to the right", "    a\n                  b c d", 20, "    a\n            b c d"},
		{"code in a fence", "```sh\nmayfly serve --domains inbox.example --smtp :25\n```", 40,
			"```sh\nmayfly serve --domains inbox.example\n    --smtp :25\n```"},
		{"a table that fits", "| A | B |\n|---|---|\n| x | y |", 40, "| A | B |\n|---|---|\nx|y"},
		{"a table whose words do not fit", "| Flag | Default | |\n|---|---|---|\n| `--message-size` | 25 MiB, or what fits | 552 |\n| b | | |", 20,
			"- `\u2011\u2011message\u2011size`: Default: 25 MiB, or what fits; 552\n- b: "},
		{"a table whose heading does not fit", "| A long heading | B |\n|---|---|\n| x | y |", 14, "- x: B: y"},
		{"a bar in a cell", "| A | B |\n|---|---|\n| `\\|` | y |", 40, "| A | B |\n|---|---|\n`\\|`|y"},
		{"a comment", "a\n<!-- made from the table -->\nb", 40, "a\nb"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.TrimSpace(fit(test.page, test.width)); got != strings.TrimSpace(test.want) {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}
