package find

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/render/doc"
	"mayfly/render/html"
	"mayfly/render/text"
)

// fixture is a mail in testdata/mails with what is to be found in it.
type fixture struct {
	name             string
	subject          string
	sender           string
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
			case "from":
				f.sender, _, _ = strings.Cut(value, " <")
			case "about":
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
	in := Input{Subject: f.subject, Sender: f.sender, Doc: f.htmlDoc, Text: f.textDoc}
	if in.Doc == nil {
		in.Doc, in.Text = f.textDoc, nil
	}
	in.Preheader = in.Doc.Preheader
	return in
}
