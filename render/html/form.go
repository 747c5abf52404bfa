package html

import (
	"cmp"
	"strings"

	"golang.org/x/net/html/atom"

	"mayfly/internal/clean"
)

// isControl reports whether an element stands apart from the text around it.
func isControl(a atom.Atom) bool {
	return a == atom.Option || a == atom.Select || a == atom.Textarea || a == atom.Button
}

// input shows a control of a form, which does nothing.
func (b *builder) input(f *frame) {
	value := func(key string) string {
		v, _ := attr(f.node, key)
		return clean.Line(v)
	}
	_, checked := attr(f.node, "checked")
	at, text := *f, ""
	switch kind := strings.ToLower(strings.TrimSpace(value("type"))); {
	case f.style.Unseen, kind == "hidden":
		return
	case kind == "submit", kind == "button", kind == "reset", kind == "image":
		at.button, text = true, cmp.Or(value("value"), value("alt"), "Submit")
	case kind == "checkbox" && checked:
		text = "[x]"
	case kind == "checkbox":
		text = "[ ]"
	case kind == "radio" && checked:
		text = "(•)"
	case kind == "radio":
		text = "( )"
	default:
		text = "[" + cmp.Or(value("value"), value("placeholder"), "      ") + "]"
	}
	b.para.space = true
	b.showImage(&at, 0, text)
	if at.button && f.style.OwnBackground {
		b.para.spans[len(b.para.spans)-1].style.Background = f.style.Fill
	}
	b.para.space = true
}
