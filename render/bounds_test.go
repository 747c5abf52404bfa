package render_test

import (
	"strings"
	"testing"

	"mayfly/internal/mail"
	"mayfly/render"
)

// TestBounds opens mails that no one wrote for a reader. Each ends, with text on the screen, and
// says so when it shows less than all.
func TestBounds(t *testing.T) {
	r := strings.Repeat
	for name, c := range map[string]struct {
		m          mail.Message
		simplified bool   // it has to say so
		want       string // is shown
	}{
		"nested tables":      {m: html(r("<table><tr><td>", 5000) + "deep"), simplified: true, want: "deep"},
		"nested quotes":      {m: html(r("<blockquote>", 5000) + "deep"), simplified: true, want: "deep"},
		"nested lists":       {m: html(r("<ul><li>", 5000) + "deep"), simplified: true, want: "deep"},
		"unclosed bold":      {m: html(r("<b><p>", 2500) + "deep"), want: "deep"},
		"a table of columns": {m: html("<table><tr><td colspan=1000000>wide<td>x</table>"), want: "wide"},
		"a word":             {m: html(r("x", 1<<20)), want: "xxxx"},
		"links":              {m: html(r(`<a href="https://a.example/1">x</a> `, 100_000)), simplified: true, want: "x"},
		"many targets":       {m: html(strings.Join(numbered("<a href='https://a.example/%'>l%</a> ", 20_000), "")), want: "l1"},
		"styles":             {m: html("<style>" + r("p{color:red}", 250_000) + "</style><p>styled"), simplified: true, want: "styled"},
		"paragraphs":         {m: html(r("<p>a", 1_000_000)), simplified: true, want: "a"},
		"breaks":             {m: html(r("a<br>", 1_000_000)), simplified: true, want: "a"},
		"cells":              {m: html("<table><tr>" + r("<td>1", 300_000)), simplified: true, want: "1"},
		"rows":               {m: html("<table>" + r("<tr><td>1", 30_000)), simplified: true, want: "[only its beginning is shown: the mail is too long]"},
		"title only":         {m: html("<title>Only a title"), want: "Only a title"},
		"hidden only":        {m: html("<p style='display:none'>Only hidden"), want: "This mail shows nothing: 1 hidden block"},
		"a gap in a cell":    {m: html(`<table><td>To<td>` + strings.Join(numbered(`<table><td style="background:#ddd;padding:5px"><b>Head %</b><tr><td style="background:#eee;padding:5px">x</table>&nbsp;`, 2), "")), want: "Head 1"},
		"nothing":            {m: html("<p> <div></div>"), want: "This mail is empty."},
		"no body":            {want: "This mail is empty."},
		"an open comment":    {m: mail.Message{HTML: "<!-- " + r("x", 1000), Text: "the text part"}, want: "the text part"},
		"comment alone":      {m: html("<!-- only a comment"), want: "This mail is empty."},
		"lines":              {m: mail.Message{Text: r("a\n", 2_000_000)}, simplified: true, want: "a"},
		"quoted lines":       {m: mail.Message{Text: r(r(">", 99)+"a\n", 50_000)}, simplified: true, want: "a"},
		"URLs":               {m: mail.Message{Text: r("http://a.example/ ", 250_000)}, simplified: true, want: "http://a.example/"},
		"schemes":            {m: mail.Message{Text: r("http://", 700_000)}, simplified: true, want: "http://"},
		"markdown quotes":    {m: mail.Message{Text: r(">", 1000) + " deep", TextType: "text/markdown"}, simplified: true, want: "deep"},
		"long markdown":      {m: mail.Message{Text: r("# head\n", 100_000), TextType: "text/markdown"}, simplified: true, want: "head"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mail := render.Open(c.m)
			lines := mail.Lines(render.Rich, render.Options{Width: 80})
			holds(t, lines, 80)
			if len(lines) > 60_000 {
				t.Errorf("%d lines", len(lines))
			}
			var all strings.Builder
			for _, l := range lines {
				all.WriteString(l.Plain)
			}
			if !strings.Contains(all.String(), c.want) {
				t.Errorf("%q is not shown", c.want)
			}
			notice := strings.Join(mail.Notice(), "\n")
			if c.simplified && !strings.Contains(notice, "simplified view: ") {
				t.Errorf("it does not say that it is simplified: %q", notice)
			}
		})
	}
}

func html(body string) mail.Message { return mail.Message{HTML: body} }

// numbered are n texts with their number for each %.
func numbered(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(text, "%", string(rune('0'+i%10))+"-"+strings.Repeat("i", i%97)+"-"+string(rune('a'+i/97%26))+string(rune('a'+i/2522)))
	}
	return all
}
