package html

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hide notes why the content of an element is invisible, if it is.
func (s *style) hide(n *html.Node, outlookOff bool) {
	if s.hidden != "" {
		return
	}
	switch {
	case s.display == none:
		s.hidden = "display: none"
	case s.msoHide && !outlookOff && !s.forOthers(n):
		s.hidden = "mso-hide: all"
	case s.opacity <= .01:
		s.hidden = "opacity: 0"
	case s.overflow && s.flat():
		s.hidden = "no height"
	case s.clipped:
		s.hidden = "clipped"
	case s.offScreen():
		s.hidden = "off-screen"
	}
}

// forOthers reports whether an element is hidden from Outlook because Outlook has its own copy: a
// button beside one in VML.
func (s *style) forOthers(n *html.Node) bool {
	return n.DataAtom == atom.A && (s.ownBack || s.border || s.onImage) || n.DataAtom == atom.Button
}

// flat reports whether a box has no height or no width. Height made of padding is room for an
// image.
func (s *style) flat() bool {
	if s.padding[top].v > 0 || s.padding[bottom].v > 0 {
		return false
	}
	return s.height.zero() || s.maxHeight.zero() || s.display != cellDisplay && s.width.zero()
}

// far is the position, in px, beyond which a box is off-screen.
const far = -500

func (s *style) offScreen() bool {
	if s.absolute && (s.left.px(s.size, 0) <= far || s.top.px(s.size, 0) <= far) {
		return true
	}
	return s.textIndent.px(s.size, 0) <= far || s.margin[left].px(s.size, 0) <= far || s.margin[top].px(s.size, 0) <= far
}

// clips reports whether a value of clip or clip-path leaves nothing: rect(0 0 0 0), inset(50%).
func clips(v string) bool {
	name, args, _ := strings.Cut(v, "(")
	args, _, _ = strings.Cut(args, ")")
	words := strings.FieldsFunc(args, func(r rune) bool { return r == ' ' || r == ',' })
	switch strings.TrimSpace(name) {
	case "rect":
		if len(words) != 4 {
			return false
		}
		for _, w := range words {
			if l, ok := parseLength(w); !ok || !l.zero() {
				return false
			}
		}
		return true
	case "inset":
		if len(words) == 0 {
			return false
		}
		l, ok := parseLength(words[0])
		return ok && l.unit == '%' && l.v >= 50
	}
	return false
}

// unreadable returns why text in this style is invisible, or "".
func (s *inherited) unreadable() string {
	switch {
	case s.hidden != "":
		return s.hidden
	case s.unseen:
		return "visibility: hidden"
	case s.size <= 1:
		return "font size"
	case s.clear:
		return "transparent"
	case s.color.Set && !s.onImage:
		back := s.back
		if !back.Set {
			back = white
		}
		if same(s.color, back) {
			return "colour of the background"
		}
	}
	return ""
}
