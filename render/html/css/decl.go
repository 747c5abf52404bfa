package css

import (
	"iter"
	"strings"
)

// decl is a declaration of a property; its value is in lower case.
type decl struct {
	set       setter // nil for a custom property: its value is its name, a colon and its value
	important bool
	varies    bool // its value refers to custom properties
	value     string
}

// maxDecls bounds the declarations in one rule or style attribute.
const maxDecls = 200

// parseDecls parses the declarations of a rule or a style attribute. It returns custom properties
// first, since the others may refer to them.
func parseDecls(s string) []decl {
	var decls, custom []decl
	for s != "" && len(decls)+len(custom) < maxDecls {
		var one string
		one, s = cutDecl(s)
		name, value, ok := strings.Cut(one, ":")
		if !ok {
			continue
		}
		name = strings.TrimSpace(name)
		set := properties[name]
		if set == nil {
			name = strings.ToLower(name)
			set = properties[name]
		}
		variable := strings.HasPrefix(name, "--")
		if set == nil && !variable {
			continue
		}
		value = strings.ToLower(strings.TrimSpace(value))
		d := decl{set: set, value: value, varies: strings.Contains(value, "var(")}
		if i := strings.LastIndexByte(value, '!'); i >= 0 {
			d.important = strings.TrimSpace(value[i+1:]) == "important"
			d.value = strings.TrimSpace(value[:i])
		}
		if variable {
			d.value = name + ":" + d.value
			custom = append(custom, d)
		} else {
			decls = append(decls, d)
		}
	}
	if custom == nil {
		return decls
	}
	return append(custom, decls...)
}

// find returns the index of the first of some characters that is outside quotes and brackets, or the
// length of s, and whether all that is opened before is closed.
func find(s, chars string) (at int, closed bool) {
	quote, depth := byte(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case depth == 0 && strings.IndexByte(chars, c) >= 0:
			return i, true
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth = max(depth-1, 0)
		}
	}
	return len(s), quote == 0 && depth == 0
}

// cutDecl cuts s at the first semicolon outside quotes and brackets.
func cutDecl(s string) (one, rest string) {
	i, closed := find(s, ";")
	if i == len(s) && closed {
		return s, ""
	}
	if !closed { // what is left open ends at the next semicolon: it does not swallow the rest
		one, rest, _ = strings.Cut(s, ";")
		return one, rest
	}
	return s[:i], s[i+1:]
}

// split yields what is in s between some characters that are outside quotes and brackets.
func split(s, chars string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			i, _ := find(s, chars)
			if i > 0 && !yield(s[:i]) {
				return
			}
			s = s[min(i+1, len(s)):]
		}
	}
}

// words yields the words of a value.
func words(v string) iter.Seq[string] { return split(v, " ,)\t\n\r\f") }

// fourSides returns the values of the top, right, bottom and left side in one to four words.
func fourSides(v string) (sides [4]string, ok bool) {
	n := 0
	for word := range words(v) {
		if n == 4 {
			return sides, false
		}
		sides[n] = word
		n++
	}
	switch n {
	case 1:
		sides[Right], sides[Bottom], sides[Left] = sides[Top], sides[Top], sides[Top]
	case 2:
		sides[Bottom], sides[Left] = sides[Top], sides[Right]
	case 3:
		sides[Left] = sides[Right]
	}
	return sides, n > 0
}

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
