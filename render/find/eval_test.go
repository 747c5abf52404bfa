package find

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mayfly/render/doc"
	"mayfly/render/html"
	"mayfly/render/text"
)

// labelled is a mail with what is to be found in it.
type labelled struct {
	source     string // the mail or sentence that it is made from
	language   string
	kind       string
	input      Input
	code, link string // "" when none is to be found
}

// request and report are bodies whose link is, and is not, the one to take.
const request = `<p><a href="https://northwind.example/"><img src="x" alt="Northwind" width="90"></a></p>
<p><a href="https://click.example/ls/%s">%s</a></p>
<p><a href="https://northwind.example/privacy">Privacy</a> <a href="https://click.example/ls/unsubscribe1234">Unsubscribe</a></p>`

const report = `<p><a href="https://northwind.example/"><img src="x" alt="Northwind" width="90"></a></p><h1>%s</h1>
<p><a href="https://northwind.example/%s" style="background:#06c;color:#fff;padding:10px">%s</a></p>`

// corpus returns all fixtures: the mails, and the sentences with numbers put in.
func corpus(t *testing.T) []labelled {
	var all []labelled
	for _, f := range fixtures(t) {
		all = append(all, labelled{f.name, language(f.name), kind(f.code, f.link), f.input(), f.code, f.link})
	}
	for _, f := range shortMails(t) {
		all = append(all, labelled{f.name, f.language, "short " + kind(f.code, f.link), f.input(), f.code, f.link})
	}
	sentence := func(kind string, fields []string, code string, values ...string) {
		body := fields[1]
		for i := 0; strings.Contains(body, "#"); i++ {
			body = strings.Replace(body, "#", values[i%len(values)], 1)
		}
		in := Input{Subject: "Northwind", Doc: text.Read(body, text.Options{})}
		all = append(all, labelled{kind + " " + fields[1], fields[0], kind, in, code, ""})
	}
	for _, fields := range lines(t, "sentences.txt") {
		for _, code := range []string{"482913", "7031", "90417725", "7KQ2M9", "QX7K-2PRT"} {
			sentence("sentence with a code", fields, code, code)
		}
	}
	for _, fields := range lines(t, "pairs.txt") {
		for _, values := range [][2]string{{"482913", "70312"}, {"7031", "90417725"}, {"90417725", "448210"}} {
			body := strings.NewReplacer("#", values[0], "@", values[1]).Replace(fields[1])
			in := Input{Subject: "Northwind", Doc: text.Read(body, text.Options{})}
			all = append(all, labelled{"pair " + fields[1], fields[0], "code beside a number", in, values[0], ""})
		}
	}
	for _, fields := range lines(t, "numbers.txt") {
		sentence("sentence with numbers", fields, "", "482913", "70312")
		sentence("sentence with numbers", fields, "", "90417725", "448210")
	}
	for _, fields := range lines(t, "coupons.txt") {
		for _, code := range []string{"SAVE20", "482913", "7KQ2-M9XP", "HERBST", "summer-sale-2031"} {
			sentence("sentence with a coupon", fields, "", code)
		}
	}
	for _, fields := range lines(t, "requests.txt") {
		in := Input{Subject: fields[1], Doc: html.Read(fmt.Sprintf(request, "a7c3e9b1d5f2", fields[2]))}
		all = append(all, labelled{"request " + fields[1], fields[0], "request by words alone", in, "", "https://click.example/ls/a7c3e9b1d5f2"})
	}
	for _, fields := range lines(t, "reports.txt") {
		for _, path := range []string{"login", "account", "orders/448210"} {
			in := Input{Subject: fields[1], Doc: html.Read(fmt.Sprintf(report, fields[1], path, fields[2]))}
			all = append(all, labelled{"report " + fields[1], fields[0], "report with a button", in, "", ""})
		}
	}
	return all
}

// lines are the lines of a file of sentences, their fields taken apart; the first field is the
// language.
func lines(t *testing.T, file string) [][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	if len(all) == 0 {
		t.Fatal("nothing in " + file)
	}
	return all
}

// language returns the language that the name of a mail begins with, by default English.
func language(name string) string {
	name = strings.Replace(strings.Replace(name, "zh-hans", "zh-Hans", 1), "zh-hant", "zh-Hant", 1)
	for i := len(name); i > 0; i = strings.LastIndexByte(name[:i], '-') {
		if _, err := os.Stat("../../assets/lexicons/" + name[:i] + ".txt"); err == nil {
			return name[:i]
		}
	}
	return "en"
}

func kind(code, link string) string {
	switch {
	case code != "" && link != "":
		return "mail with a code and a link"
	case code != "":
		return "mail with a code"
	case link != "":
		return "mail with a link"
	}
	return "mail with neither"
}

// tally counts what was found.
type tally struct{ expected, right, wrong int }

func (c *tally) count(want, got string) {
	if want != "" {
		c.expected++
	}
	if got != "" && got == want {
		c.right++
	} else if got != "" {
		c.wrong++
	}
}

func ratio(part, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(part) / float64(of)
}

func (c *tally) precision() float64 { return ratio(c.right, c.right+c.wrong) }
func (c *tally) recall() float64    { return ratio(c.right, c.expected) }

// TestEval: in every fixture just what is to be found is found. -v prints precision and recall by language and
// by kind.
func TestEval(t *testing.T) {
	tallies := map[string]*[2]tally{}
	for _, m := range corpus(t) {
		code, link := "", ""
		r := Find(m.input)
		if r.CodeOK {
			code = r.Codes[0].Value
		}
		if r.LinkOK {
			link = r.Links[0].URL
		}
		if code != m.code {
			t.Errorf("%s: code %q, want %q", m.source, code, m.code)
			for _, c := range r.Codes {
				t.Logf("%5.1f %s %q", c.Score, c.Value, c.Reasons)
			}
		}
		if link != m.link {
			t.Errorf("%s: link %q, want %q", m.source, link, m.link)
			for _, l := range r.Links {
				t.Logf("%5.1f %s [%s] %q", l.Score, l.URL, l.Text, l.Reasons)
			}
		}
		for _, key := range []string{"all", "in " + m.language, m.kind} {
			if tallies[key] == nil {
				tallies[key] = new([2]tally)
			}
			tallies[key][0].count(m.code, code)
			tallies[key][1].count(m.link, link)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(tallies)) {
		for i, what := range []string{"codes", "links"} {
			c := &tallies[key][i]
			if c.expected+c.wrong > 0 {
				t.Logf("%-28s %s: precision %.3f, recall %.3f of %d", key, what, c.precision(), c.recall(), c.expected)
			}
		}
	}
}

// fixture is a mail in testdata/mails with what is to be found in it.
type fixture struct {
	name             string
	subject          string
	code, link       string // "" when none is to be found
	text, html       string
	textDoc, htmlDoc *doc.Document
}

// fixtures reads the mails of testdata/mails. A file has a header of "subject", "from", "code" and
// "link" (none when missing), an empty line, and the parts "[text]" and "[html]".
func fixtures(t testing.TB) []fixture {
	t.Helper()
	files, err := filepath.Glob("testdata/mails/*.mail")
	if err != nil || len(files) == 0 {
		t.Fatal("no mails in testdata/mails: ", err)
	}
	var all []fixture
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := fixture{name: strings.TrimSuffix(filepath.Base(file), ".mail")}
		header, body, _ := strings.Cut(string(b), "\n\n")
		for line := range strings.Lines(header) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			value = strings.TrimSpace(value)
			if value == "none" {
				value = ""
			}
			switch key {
			case "subject":
				f.subject = value
			case "code":
				f.code = value
			case "link":
				f.link = value
			case "from", "about":
			default:
				t.Fatalf("%s: unknown field %q", file, key)
			}
		}
		part := &f.text
		for line := range strings.Lines(body) {
			switch strings.TrimSpace(line) {
			case "[text]":
				part = &f.text
			case "[html]":
				part = &f.html
			default:
				*part += line
			}
		}
		if f.text != "" {
			f.textDoc = text.Read(f.text, text.Options{})
		}
		if f.html != "" {
			f.htmlDoc = html.Read(f.html)
		}
		all = append(all, f)
	}
	return all
}

func (f *fixture) input() Input {
	in := Input{Subject: f.subject, Doc: f.htmlDoc, Text: f.textDoc}
	if in.Doc == nil {
		in.Doc, in.Text = f.textDoc, nil
	}
	in.Preheader = in.Doc.Preheader
	return in
}

// margin is how far the scores in a short mail are from the threshold at least, in points.
const margin = 0.3

// shortMail is a line of testdata/short.txt.
type shortMail struct {
	fixture
	language string
}

func shortMails(t *testing.T) []shortMail {
	var all []shortMail
	for _, fields := range lines(t, "short.txt") {
		if len(fields) != 4 {
			t.Fatalf("short.txt: %q", fields)
		}
		m := shortMail{language: fields[0]}
		m.name, m.subject = "short "+strings.Join(fields[:3], " "), fields[1]
		switch body := fields[2]; {
		case strings.HasPrefix(body, "<"):
			m.htmlDoc = html.Read(body)
		default:
			m.textDoc = text.Read(strings.ReplaceAll(body, `\n`, "\n"), text.Options{})
		}
		for want := range strings.FieldsSeq(fields[3]) {
			switch {
			case strings.Contains(want, "://"):
				m.link = want
			case want != "-":
				m.code = want
			}
		}
		all = append(all, m)
	}
	return all
}

// TestShortMails: what a short mail is for is found, or that it is for nothing, without doubt.
func TestShortMails(t *testing.T) {
	for _, m := range shortMails(t) {
		t.Run(m.name, func(t *testing.T) {
			r := Find(m.input())
			judge(t, m.code, r.CodeOK, enoughForCode, r.Codes, func(c *Code) (string, float64) { return c.Value, c.Score })
			judge(t, m.link, r.LinkOK, enoughForLink, r.Links, func(l *Link) (string, float64) { return l.URL, l.Score })
			if t.Failed() {
				t.Logf("codes %+v", r.Codes)
				t.Logf("links %+v", r.Links)
			}
		})
	}
}

// judge checks that what was wanted was found, with a margin.
func judge[F any](t *testing.T, want string, ok bool, enough float64, found []F, read func(*F) (string, float64)) {
	t.Helper()
	value, score := "", 0.0
	if len(found) > 0 {
		value, score = read(&found[0])
	}
	switch {
	case want == "" && (ok || score > enough-margin):
		t.Errorf("%q found, or nearly", value)
	case want != "" && (!ok || value != want || score < enough+margin):
		t.Errorf("%q not found, or hardly", want)
	}
}
