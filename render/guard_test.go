package render

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"mayfly/internal/mail"
	"mayfly/render/check"
	"mayfly/render/doc"
)

// TestAMailThatPanics is shown as its text, below a line that says so, in all views, with a finding where checks panic.
func TestAMailThatPanics(t *testing.T) {
	var log bytes.Buffer
	usual := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(usual)
	broken := &doc.Document{Blocks: []*doc.Block{nil}}
	for name, read := range map[string]func(string) *doc.Document{
		"while it is read":     func(string) *doc.Document { panic("reading") },
		"while it is searched": func(string) *doc.Document { return broken },
	} {
		for _, m := range []mail.Message{{HTML: "<style>p{}</style><p>Your <b>table</b>"}, {Text: "Your\ntable", HTML: "<p>Another"}} {
			opened := open(m, &Mail{reader: reader{read, reading.text, reading.find}})
			askEverything(opened)
			lines := opened.Lines(Rich, Options{Width: 30})
			if len(lines) < 4 || !strings.HasPrefix(lines[0].Plain, "This message cannot be") || lines[len(lines)-2].Plain != "Your" || lines[len(lines)-1].Plain != "table" {
				t.Errorf("%s: %+v", name, lines)
			}
		}
	}
	laid := open(mail.Message{Text: "text"}, &Mail{reader: reading})
	laid.rich, laid.body, laid.text = broken, broken, broken
	if lines := laid.Lines(Rich, Options{Width: 80, Hidden: true}); len(lines) != 3 || lines[2].Plain != "text" {
		t.Errorf("while it is laid out: %+v", lines)
	}
	if !strings.Contains(laid.Plain(), "text") {
		t.Errorf("while plain text is made of it: %q", laid.Plain())
	}
	if f := laid.Checks(); len(f) != 1 || f[0].ID != "unchecked" {
		t.Errorf("while it is checked: %+v", f)
	}
	if f := laid.Under(check.Rules{Ignore: []string{"unchecked"}}).checked(func() []check.Finding { panic("checking") }); len(f) != 0 {
		t.Errorf("while it is checked, which is ignored: %+v", f)
	}
	if !strings.Contains(log.String(), "guard_test.go") {
		t.Errorf("the log has no stack: %q", log.String())
	}
}
