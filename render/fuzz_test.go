package render_test

import (
	"os"
	"path/filepath"
	"testing"

	"mayfly/internal/mail"
	"mayfly/render"
)

// seeds adds the fixtures with an extension to a corpus.
func seeds(f *testing.F, ext string) {
	f.Helper()
	files, err := filepath.Glob("testdata/pages/*." + ext)
	if err != nil || len(files) == 0 {
		f.Fatal("no fixtures: ", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(f, err)
		f.Add(string(data), uint8(80))
	}
}

// fuzzed checks what holds for every mail.
func fuzzed(t *testing.T, m mail.Message, width uint8) {
	if len(m.HTML)+len(m.Text) > 1<<16 {
		t.Skip("longer inputs only take longer")
	}
	mail := render.Open(m)
	w := 20 + int(width)%181
	for _, v := range views {
		holds(t, mail.Lines(v, render.Options{Width: w, Theme: themes()["dark-true"], Links: true, Hidden: width%2 == 0}), w)
	}
	for _, n := range mail.Notice() {
		if n != render.Clean(n) {
			t.Errorf("notice %q is not clean", n)
		}
	}
}

func FuzzHTML(f *testing.F) {
	seeds(f, "html")
	f.Fuzz(func(t *testing.T, body string, width uint8) { fuzzed(t, mail.Message{HTML: body}, width) })
}

func FuzzText(f *testing.F) {
	seeds(f, "txt")
	f.Fuzz(func(t *testing.T, body string, width uint8) {
		fuzzed(t, mail.Message{Text: body, Flowed: width%2 == 0, DelSp: width%3 == 0}, width)
	})
}

func FuzzMarkdown(f *testing.F) {
	seeds(f, "md")
	f.Add("&#27[31mred &#11A &#9 &Tab; &#x02y", uint8(60))
	f.Add("&#27;[31mred &#x1b;]8;;http://x&#7; &#1;&#2;", uint8(40))
	f.Fuzz(func(t *testing.T, body string, width uint8) {
		fuzzed(t, mail.Message{Text: body, TextType: "text/markdown"}, width)
	})
}
