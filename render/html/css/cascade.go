package css

import "golang.org/x/net/html"

// Cascade computes styles from the style sheets of a message and the style attributes. The zero
// value has no sheets.
type Cascade struct {
	Quirks bool // the message has no doctype

	sheet  sheet
	inline map[string][]decl
	found  []int32
	vars   variables
	style  Style // the one being computed
}

// maxInline bounds how many different style attributes are cached.
const maxInline = 4096

// Add reads the text of a style element. What exceeds MaxSheet bytes in all is left out.
func (c *Cascade) Add(text string) { c.sheet.add(text) }

// Full reports whether rules may have been left out, since there are too many or too much to do.
func (c *Cascade) Full() bool {
	s := &c.sheet
	return len(s.rules) >= maxRules || s.bytes >= MaxSheet || s.work >= maxWork
}

// Compute returns the style of an element in one whose style is parent.
func (c *Cascade) Compute(n *html.Node, parent *Inherited) Style {
	s := &c.style
	*s = Style{Inherited: *parent, parent: parent, opacity: 1}
	s.defaults(n, c.Quirks)
	s.attributes(n)
	c.found = c.sheet.match(n, c.found[:0])
	own := c.inlineDecls(n)
	for _, i := range c.found {
		c.vars.declare(s, c.sheet.rules[i].decls)
	}
	c.vars.declare(s, own)
	important := false
	for _, i := range c.found {
		important = c.apply(s, c.sheet.rules[i].decls, false) || important
	}
	important = c.apply(s, own, false) || important
	if important {
		for _, i := range c.found {
			c.apply(s, c.sheet.rules[i].decls, true)
		}
		c.apply(s, own, true)
	}
	if s.Width.Unit == '%' && s.maxWidth.IsSet() && s.maxWidth.Px(s.Size, 640) < s.Width.Px(s.Size, 640) {
		s.Width = s.maxWidth
	}
	if s.Display == Grid && s.Tracks < 2 {
		s.Display = Block
	}
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
func (c *Cascade) apply(s *Style, decls []decl, important bool) (more bool) {
	for i := range decls {
		d := &decls[i]
		if d.important != important {
			more = more || d.important
			continue
		}
		if d.set == nil {
			continue
		}
		value := d.value
		if d.varies {
			var ok bool
			if value, ok = c.vars.replace(value, s.vars); !ok {
				continue
			}
		}
		d.set(s, value)
	}
	return more
}
