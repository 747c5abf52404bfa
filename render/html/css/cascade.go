package css

import "golang.org/x/net/html"

// Cascade computes styles from the style sheets of a message and the style attributes. The zero
// value has no sheets.
type Cascade struct {
	Quirks bool // the message has no doctype

	sheet  sheet
	inline map[string][]decl
	found  []int32  // the rules for an element, and the declarations
	decls  [][]decl // of these and of its style attribute
	style  Style    // the one being computed
}

// maxInline bounds how many different style attributes are cached.
const maxInline = 4096

// Add reads the text of a style element. What exceeds maxSheet bytes in all is left out.
func (c *Cascade) Add(text string) { c.sheet.add(text) }

// Full reports whether rules may have been left out, since there are too many or too much to do.
func (c *Cascade) Full() bool {
	s := &c.sheet
	return len(s.rules) >= maxRules || s.bytes >= maxSheet || s.work >= maxWork
}

// Compute returns the style of an element in one whose style is parent.
func (c *Cascade) Compute(n *html.Node, parent *Inherited) Style {
	s := &c.style
	*s = Style{Inherited: *parent, parent: parent, opacity: 1}
	s.defaults(n, c.Quirks)
	s.attributes(n)
	c.found, c.decls = c.sheet.match(n, c.found[:0]), c.decls[:0]
	for _, i := range c.found {
		c.decls = append(c.decls, c.sheet.rules[i].decls)
	}
	c.decls = append(c.decls, c.inlineDecls(n))
	important := false
	for _, decls := range c.decls {
		important = s.apply(decls, false) || important
	}
	for i := 0; important && i < len(c.decls); i++ {
		s.apply(c.decls[i], true)
	}
	if s.Width.Unit == '%' && s.maxWidth.IsSet() && s.maxWidth.Px(s.Size, 640) < s.Width.Px(s.Size, 640) {
		s.Width = s.maxWidth
	}
	if s.Display == Grid && s.Tracks < 2 {
		s.Display = Block
	}
	s.clip()
	s.fade()
	s.position()
	s.outline()
	s.hide()
	s.parent = nil
	return *s
}

func (c *Cascade) inlineDecls(n *html.Node) []decl {
	for _, a := range n.Attr {
		if a.Key != "style" {
			continue
		}
		if d, ok := c.inline[a.Val]; ok {
			return d
		}
		d := parseDecls(a.Val)
		if c.inline == nil {
			c.inline = make(map[string][]decl)
		}
		if len(c.inline) < maxInline {
			c.inline[a.Val] = d
		}
		return d
	}
	return nil
}

// apply sets the important declarations, or the others, and reports whether there are important
// ones.
func (s *Style) apply(decls []decl, important bool) (more bool) {
	for i := range decls {
		d := &decls[i]
		if d.important == important {
			d.set(s, d.value)
		}
		more = more || d.important
	}
	return more
}
