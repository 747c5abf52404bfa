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

// cutDecl cuts s at the first semicolon outside quotes and parentheses.
func cutDecl(s string) (one, rest string) {
	quote, depth := byte(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth = max(depth-1, 0)
		case c == ';' && depth == 0:
			return s[:i], s[i+1:]
		}
	}
	// An unclosed quote or parenthesis ends at the next semicolon: it does not swallow the rest.
	if quote != 0 || depth > 0 {
		if i := strings.IndexByte(s, ';'); i >= 0 {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// words yields the words of a value, cut at spaces and commas outside parentheses.
func words(v string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, depth := 0, 0
		for i := 0; i <= len(v); i++ {
			switch {
			case i < len(v) && v[i] == '(':
				depth++
			case i < len(v) && v[i] == ')' && depth > 0:
				depth--
			case i == len(v), depth == 0 && strings.IndexByte(" ,)\t\n\r\f", v[i]) >= 0:
				if i > start && !yield(v[start:i]) {
					return
				}
				start = i + 1
			}
		}
	}
}

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
