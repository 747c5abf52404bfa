package html

import (
	"strings"

	"golang.org/x/net/html/atom"

	"mayfly/render/clean"
)

// isControl reports whether an element stands apart from the text around it.
func isControl(a atom.Atom) bool {
	return a == atom.Option || a == atom.Select || a == atom.Textarea || a == atom.Button
}

// input shows a control of a form, which does nothing.
func (b *builder) input(f *frame) {
	if f.style.Unseen {
		return
	}
	kind, _ := attr(f.node, "type")
	value, _ := attr(f.node, "value")
	hint, _ := attr(f.node, "placeholder")
	_, checked := attr(f.node, "checked")
	value, hint = clean.Line(value), clean.Line(hint)
	text := ""
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "hidden":
		return
	case "submit", "button", "reset", "image":
		if text = value; text == "" {
			alt, _ := attr(f.node, "alt")
			text = clean.Line(alt)
		}
		if text == "" {
			text = "Submit"
		}
		b.control(f, text)
		return
	case "checkbox":
		text = "[ ]"
		if checked {
			text = "[x]"
		}
	case "radio":
		text = "( )"
		if checked {
			text = "(•)"
		}
	default:
		if value == "" {
			value = hint
		}
		if value == "" {
			value = "      "
		}
		text = "[" + value + "]"
	}
	b.para.space = true
	b.showImage(f, 0, text)
	b.para.space = true
}

// control shows the button of a form.
func (b *builder) control(f *frame, text string) {
	at := *f
	at.button = true
	b.para.space = true
	b.showImage(&at, 0, text)
	if s := &f.style; s.OwnBackground {
		b.para.spans[len(b.para.spans)-1].style.Background = s.Fill
	}
	b.para.space = true
}
