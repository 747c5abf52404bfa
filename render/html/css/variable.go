package css

import "strings"

// variable is a CSS custom property, such as --accent, in scope for an element and its children.
type variable struct {
	name, value string
	outer       *variable // the one declared before
}

// Bounds on custom properties. Real messages stay far below them.
const (
	maxVariables    = 2_000     // declared in a message
	maxLookups      = 1_000_000 // variables inspected in the whole message
	maxReplaced     = 32        // variables in one value, including those in their values
	maxReplacedText = 1_000     // bytes of a value after replacement
)

// variables counts the work for custom properties so far.
type variables struct {
	declared, lookups int
}

// declare adds the custom properties of a rule or a style attribute, which come first in decls.
func (c *variables) declare(s *Style, decls []decl) {
	for i := range decls {
		if decls[i].set != nil {
			return
		}
		if c.declared++; c.declared > maxVariables {
			return
		}
		name, value, _ := strings.Cut(decls[i].value, ":")
		s.vars = &variable{name, value, s.vars}
	}
}

// replace replaces references to custom properties by their values, or by the fallbacks given. It
// reports whether that makes a value.
func (c *variables) replace(value string, known *variable) (string, bool) {
	for range maxReplaced {
		start := strings.Index(value, "var(")
		if start < 0 {
			return value, true
		}
		rest := value[start+len("var("):]
		end, _ := find(rest, ")")
		if end == len(rest) {
			return "", false
		}
		name, with, otherwise := strings.Cut(rest[:end], ",")
		if found, ok := c.lookUp(strings.TrimSpace(name), known); ok {
			with = found
		} else if !otherwise {
			return "", false
		}
		value = value[:start] + strings.TrimSpace(with) + rest[end+1:]
		if len(value) > maxReplacedText {
			return "", false
		}
	}
	return "", false
}

func (c *variables) lookUp(name string, known *variable) (string, bool) {
	for ; known != nil && c.lookups < maxLookups; known = known.outer {
		if c.lookups++; known.name == name {
			return known.value, true
		}
	}
	return "", false
}
