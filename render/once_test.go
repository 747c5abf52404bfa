package render

import (
	"testing"

	"mayfly/internal/mail"
	"mayfly/render/doc"
	"mayfly/render/find"
)

// counts is how often the bodies of a mail were read and searched.
type counts struct{ html, text, find int }

// counted opens a message with a reader that counts.
func counted(m mail.Message, n *counts) *Mail {
	return open(m, &Mail{reader: reader{
		html: func(s string) *doc.Document { n.html++; return reading.html(s) },
		text: func(m mail.Message) *doc.Document { n.text++; return reading.text(m) },
		find: func(in find.Input) find.Parts { n.find++; return reading.find(in) },
	}})
}

// askEverything asks a mail for all that is made of its bodies.
func askEverything(m *Mail) {
	for v := Rich; v <= Checks; v++ {
		for _, width := range []int{20, 80} {
			m.Lines(v, Options{Width: width})
			m.Lines(v, Options{Width: width, Hidden: true, Unfold: true, Links: true})
		}
	}
	m.Checks()
	m.Find()
	m.Code()
	m.Codes()
	m.Confirm()
	m.Links()
	m.Document()
	m.Notice()
	m.CountImages()
}

func TestEachBodyIsReadAndSearchedOnce(t *testing.T) {
	const text, html = "Your verification code is\n\n482913\n", `<p>Your <b>verification code</b> is</p><p>482913</p><img src="cid:a">`
	for name, c := range map[string]struct {
		object mail.Message // as the API describes it
		raw    mail.Message // as its raw form does
		first  counts       // for the object
		both   counts       // when the raw form was added
	}{
		"both bodies":        {mail.Message{Text: text, HTML: html}, mail.Message{Text: text, HTML: html}, counts{1, 1, 1}, counts{1, 1, 1}},
		"the HTML alone":     {mail.Message{HTML: html}, mail.Message{HTML: html}, counts{1, 0, 1}, counts{1, 0, 1}},
		"the text alone":     {mail.Message{Text: text}, mail.Message{Text: text, TextType: "text/plain"}, counts{0, 1, 1}, counts{0, 1, 1}},
		"HTML like the text": {mail.Message{Text: text, HTML: "<p>" + text}, mail.Message{Text: text, HTML: "<p>" + text}, counts{1, 1, 1}, counts{1, 1, 1}},
		"an open comment":    {mail.Message{HTML: "<!-- hello"}, mail.Message{HTML: "<!-- hello"}, counts{1, 0, 1}, counts{1, 0, 1}},
		"nothing":            {mail.Message{}, mail.Message{}, counts{0, 0, 1}, counts{0, 0, 1}},
		// What the API does not say changes how the text is read.
		"flowed text": {mail.Message{Text: text, HTML: html}, mail.Message{Text: text, HTML: html, Flowed: true}, counts{1, 1, 1}, counts{1, 2, 2}},
		"Markdown":    {mail.Message{Text: text, HTML: html}, mail.Message{Text: text, HTML: html, TextType: "text/markdown"}, counts{1, 1, 1}, counts{1, 2, 2}},
		"other HTML":  {mail.Message{Text: text, HTML: html}, mail.Message{Text: text, HTML: html + "<p>more"}, counts{1, 1, 1}, counts{2, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var n counts
			m := counted(c.object, &n)
			askEverything(m)
			if n != c.first {
				t.Errorf("the object: %+v, want %+v", n, c.first)
			}
			c.raw.Raw, c.raw.Fields = []byte("raw"), []mail.Field{{Name: "Subject"}}
			c.raw.Attachments = []mail.Attachment{{ContentID: "a", Content: []byte("an image")}}
			askEverything(m.Reopen(c.raw))
			if n != c.both {
				t.Errorf("with the raw form: %+v, want %+v", n, c.both)
			}
		})
	}
}

// A check compares the bodies as they came, though a code is set apart in the one that is shown.
func TestABodyStaysAsItWasRead(t *testing.T) {
	m := Open(mail.Message{Text: "Your code: 482913\n", HTML: "<p>Your verification code is</p><table><tr><td>4<td>8<td>2<td>9<td>1<td>3</table><p>482913</p>"})
	kinds := func(d *doc.Document) (codes int) {
		for b := range d.Leaves() {
			if b.Kind == doc.Code {
				codes++
			}
		}
		return codes
	}
	if shown, read := kinds(m.body), kinds(m.html); shown == 0 || read != 0 {
		t.Errorf("%d codes are set apart in what is shown, %d in what was read", shown, read)
	}
}
