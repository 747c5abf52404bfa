package render_test

import (
	"flag"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/internal/fortest"
	"mayfly/internal/mail"
	"mayfly/render"
	"mayfly/render/layout"
)

var update = flag.Bool("update", false, "write the golden files anew")

var must = fortest.Must

// page opens a fixture as the kind of body that its name says.
func page(t testing.TB, file string) *render.Mail {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	m := mail.Message{Subject: "Fixture", From: mail.Address{Addr: "sender@acme.example"}}
	switch filepath.Ext(file) {
	case ".html":
		m.HTML = string(data)
	case ".md":
		m.Text, m.TextType = string(data), "text/markdown"
	default:
		m.Text, m.Flowed = string(data), strings.Contains(file, "flowed")
	}
	return render.Open(m)
}

func pages(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, ext := range []string{"html", "txt", "md"} {
		found, err := filepath.Glob("testdata/pages/*." + ext)
		must(t, err)
		files = append(files, found...)
	}
	if len(files) < 20 {
		t.Fatalf("only %d fixtures", len(files))
	}
	return files
}

// golden compares with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		must(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run go test ./render -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// TestPages compares each fixture with its golden file at 40 and at 80 columns.
func TestPages(t *testing.T) {
	for _, file := range pages(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			mail := page(t, file)
			var out strings.Builder
			for _, width := range []int{40, 80} {
				fmt.Fprintf(&out, "%d columns %s\n", width, strings.Repeat("=", width-11))
				for _, l := range mail.Lines(render.Rich, render.Options{Width: width, Links: width == 80}) {
					fmt.Fprintln(&out, l.Plain)
				}
			}
			for _, n := range mail.Notice() {
				fmt.Fprintln(&out, "notice:", n)
			}
			golden(t, strings.TrimSuffix(file, filepath.Ext(file))+".golden", out.String())
		})
	}
}

// themes are a terminal of each kind.
func themes() map[string]render.Theme {
	accent := color.RGBA{0x2f, 0x6f, 0xeb, 0xff}
	return map[string]render.Theme{
		"none":       {},
		"dark-16":    {Dark: true, Profile: layout.ANSI16, Hyperlinks: true, Accent: accent},
		"dark-256":   {Dark: true, Profile: layout.ANSI256, Hyperlinks: true, Accent: accent},
		"dark-true":  {Dark: true, Profile: layout.TrueColor, Hyperlinks: true, Accent: accent},
		"light-true": {Profile: layout.TrueColor, Hyperlinks: true, Accent: accent},
	}
}

// TestThemes compares how colours, buttons, codes and links are written for each kind of terminal.
func TestThemes(t *testing.T) {
	for name, theme := range themes() {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			for _, file := range []string{"11-button", "11-code", "12-once", "13-colours", "22-around", "23-bands", "24-cards", "28-marks"} {
				fmt.Fprintln(&out, "==", file)
				mail := page(t, "testdata/pages/"+file+".html")
				for _, l := range mail.Lines(render.Rich, render.Options{Width: 60, Theme: theme}) {
					fmt.Fprintln(&out, strings.ReplaceAll(l.Styled, "\x1b", "␛"))
				}
			}
			golden(t, "testdata/theme-"+name+".golden", out.String())
		})
	}
}
