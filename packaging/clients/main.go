// Command clients writes the table of what mail clients support, assets/clients.txt, from a checkout of
// https://github.com/hteumeuleu/caniemail and from rules.txt, which says how each feature is found:
//
//	go run ./packaging/clients CHECKOUT >assets/clients.txt
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed rules.txt
var rulesFile string

// left are clients that are left out: one that Microsoft ended in 2024, and two with hardly any tests of late.
var left = []string{"outlook/windows-mail", "gmail/mobile-webmail", "thunderbird/windows"}

// platforms are the ends of IDs and of names.
var platforms = map[string][2]string{
	"desktop-webmail": {"web", "on the web"}, "outlook-com": {"web", "on the web"}, "windows": {"windows", "for Windows"},
	"macos": {"mac", "for Mac"}, "ios": {"ios", "for iOS"}, "android": {"android", "for Android"},
}

// feature is the front matter of a file of _features.
type feature struct {
	Title string
	Stats map[string]map[string]yaml.Node // by family and platform: support by version, in order
	Notes map[string]string               `yaml:"notes_by_num"`
}

// row is a row of rules.txt.
type row struct {
	slug                           string
	notes                          []string
	gravity, selector, what, words string
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: clients CHECKOUT")
	}
	if err := write(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func write(checkout string) error {
	commit, err := exec.Command("git", "-C", checkout, "log", "-1", "--format=%cs %h").Output()
	if err != nil {
		return fmt.Errorf("the version of %s: %w", checkout, err)
	}
	licence, err := os.ReadFile(filepath.Join(checkout, "LICENSE"))
	if err != nil {
		return err
	}
	var families struct{ Family map[string]string }
	if err := read(filepath.Join(checkout, "_data", "nicenames.yml"), &families); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(checkout, "_features", "[^_]*.md"))
	if err != nil {
		return err
	}
	t := table{rules: parseRules(), codes: map[string]string{}, families: families.Family}
	for _, file := range files {
		var f feature
		if err := read(file, &f); err != nil {
			return err
		}
		t.add(strings.TrimSuffix(filepath.Base(file), ".md"), f)
	}
	for slug := range t.rules {
		if !slices.ContainsFunc(files, func(file string) bool { return filepath.Base(file) == slug+".md" }) {
			return fmt.Errorf("rules.txt: there is no feature %s", slug)
		}
	}
	fmt.Printf("# Made by packaging/clients of facts and notes of https://www.caniemail.com, which has this licence:\n#\n# %s\n",
		strings.ReplaceAll(strings.TrimSpace(string(licence)), "\n", "\n# "))
	fmt.Printf("data %s%s%s", commit, t.clients.String(), t.out.String())
	return nil
}

var tags = regexp.MustCompile(`(?m)^tags:.*\n`) // a page has them twice

// read reads YAML, or the front matter of a page, which has tabs where YAML has none.
func read(file string, to any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if front, ok := bytes.CutPrefix(data, []byte("---\n")); ok {
		data, _, _ = bytes.Cut(front, []byte("---\n"))
	}
	data = tags.ReplaceAll(bytes.ReplaceAll(data, []byte("\t"), []byte("  ")), nil)
	if err := yaml.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func parseRules() map[string][]row {
	rules := map[string][]row{}
	for line := range strings.Lines(rulesFile) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		var cells [5]string
		for i, cell := range strings.SplitN(line, " |", 5) {
			cells[i] = strings.TrimSpace(cell)
		}
		slug, notes, numbered := strings.Cut(cells[0], "#")
		r := row{slug: slug, gravity: cells[1], selector: cells[2], what: cells[3], words: cells[4]}
		if numbered {
			r.notes = strings.Split(notes, ",")
		}
		rules[slug] = append(rules[slug], r)
	}
	return rules
}

// table is what is written.
type table struct {
	rules        map[string][]row
	families     map[string]string
	codes        map[string]string // of clients
	clients, out strings.Builder
}

// add adds a feature with the clients that lack it, by the rows that these belong to.
func (t *table) add(slug string, f feature) {
	rows := t.rules[slug]
	if i := slices.IndexFunc(rows, func(r row) bool { return r.notes == nil }); i < 0 {
		rows = append(rows, row{})
	} else {
		rows = append(slices.Delete(slices.Clone(rows), i, i+1), rows[i]) // the rest is for it
	}
	gaps := make([][]string, len(rows))
	used := map[string]bool{}
	for _, family := range slices.Sorted(maps.Keys(f.Stats)) {
		for _, platform := range slices.Sorted(maps.Keys(f.Stats[family])) {
			versions := f.Stats[family][platform].Content
			if len(versions) == 0 || slices.Contains(left, family+"/"+platform) {
				continue
			}
			support := strings.Fields(strings.ReplaceAll(versions[len(versions)-1].Value, "#", ""))
			if support[0] != "n" && support[0] != "a" {
				continue
			}
			gap := t.code(family, platform) + map[string]string{"n": "=", "a": "~"}[support[0]] + versions[len(versions)-2].Value
			rest := support[1:]
			for i, r := range rows {
				notes := slices.DeleteFunc(slices.Clone(rest), func(n string) bool { return r.notes != nil && !slices.Contains(r.notes, n) })
				rest = slices.DeleteFunc(slices.Clone(rest), func(n string) bool { return slices.Contains(notes, n) })
				if len(notes) == 0 && (r.notes != nil || len(support) > 1) || r.what == "-" {
					continue
				}
				gaps[i] = append(gaps[i], strings.Join(append([]string{gap}, notes...), "#"))
				for _, n := range notes {
					used[n] = true
				}
			}
		}
	}
	var b strings.Builder
	for i, r := range rows {
		if gaps[i] != nil {
			if r.selector == "" && r.what == "" {
				log.Fatalf("rules.txt does not say how %s is found", slug)
			}
			if r.notes != nil {
				r.gravity += "!" // what its notes say is true of all that is found
			}
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", r.gravity, r.selector, r.what, r.words, strings.Join(gaps[i], " "))
		}
	}
	if b.Len() > 0 {
		title := strings.NewReplacer(" property", "", " CSS", "", " element", "", " attributes", "", " attribute", "", " keyword", "", ", column-gap, row-gap", "", "left, right, top, bottom", "left, top").Replace(strings.TrimSpace(f.Title))
		fmt.Fprintf(&t.out, "= %s\t%s\n", slug, title)
		for _, n := range slices.Sorted(maps.Keys(f.Notes)) {
			if used[n] {
				fmt.Fprintf(&t.out, "%s\t%s\n", n, plain(f.Notes[n]))
			}
		}
		t.out.WriteString(b.String())
	}
}

var link = regexp.MustCompile(`\s*\(?(?:See )?\[([^\]]*)\]\([^)]*\)\)?`)

// shorter are the commonest words of notes that say what their support says, or say it at length.
var shorter = strings.NewReplacer("Partial. ", "", "Partial: ", "", "Partial support. ", "", "Buggy. ", "",
	"Not supported with non Google accounts", "Google accounts only", "Not supported with Hotmail/Outlook accounts", "no Microsoft accounts")

// plain is a note without links, in fewer words.
func plain(note string) string {
	return strings.TrimSpace(shorter.Replace(link.ReplaceAllString(strings.Join(strings.Fields(note), " "), " $1")))
}

// code is the code of a client, which is declared at its first use.
func (t *table) code(family, platform string) string {
	name := family + "/" + platform
	if t.codes[name] == "" {
		words, ok := platforms[platform]
		if !ok {
			log.Fatalf("no words for the platform %s", platform)
		}
		t.codes[name] = string(rune('a'+len(t.codes)/26)) + string(rune('a'+len(t.codes)%26))
		nice := strings.NewReplacer("Yahoo! Mail", "Yahoo", "Mozilla ", "", " Email", "").Replace(t.families[family])
		fmt.Fprintf(&t.clients, "client %s\t%s-%s\t%s\t%s\n", t.codes[name], family, words[0], nice, words[1])
	}
	return t.codes[name]
}
