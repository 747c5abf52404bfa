package css

import (
	"iter"
	"strings"
)

// decl is a declaration of a property; its value is in lower case.
type decl struct {
	set       setter
	important bool
	value     string
}

// maxDecls bounds the declarations in one rule or style attribute.
const maxDecls = 200

// parseDecls parses the declarations of a rule or a style attribute.
func parseDecls(s string) []decl {
	var decls []decl
	for one := range Split(s, ";") {
		name, value, ok := strings.Cut(one, ":")
		set := properties[strings.ToLower(strings.TrimSpace(name))]
		if set == nil || !ok || len(decls) == maxDecls {
			continue
		}
		value = strings.ToLower(strings.TrimSpace(value))
		d := decl{set: set, value: value}
		if i := strings.LastIndexByte(value, '!'); i >= 0 {
			d.important = strings.TrimSpace(value[i+1:]) == "important"
			d.value = strings.TrimSpace(value[:i])
		}
		if strings.Contains(d.value, "var(") {
			d.value = fallback(d.value)
		}
		decls = append(decls, d)
	}
	return decls
}

// fallback puts what stands for custom properties in their place: their values are not known.
func fallback(value string) string {
	const name, other = 'n', 'o' // the parts of var(name, other)
	var (
		s    strings.Builder
		open []byte // the brackets that are open, by the part they are at
	)
	for i := 0; i < len(value); i++ {
		last, at := len(open)-1, byte(0)
		if last >= 0 {
			at = open[last]
		}
		switch c := value[i]; {
		case strings.HasPrefix(value[i:], "var("):
			open = append(open, name)
			i += len("var(") - 1
		case c == ')' && at != 0:
			if open = open[:last]; at == '(' {
				s.WriteByte(c)
			}
		case at == name:
			if c == ',' {
				open[last] = other
			}
		default:
			if c == '(' {
				open = append(open, c)
			}
			s.WriteByte(c)
		}
	}
	return strings.TrimSpace(s.String())
}

// find returns the index of the first of some characters that is outside quotes and brackets, or the
// length of s.
func find(s, chars string) int {
	quote, depth := byte(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case depth == 0 && strings.IndexByte(chars, c) >= 0:
			return i
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth = max(depth-1, 0)
		}
	}
	return len(s)
}

// Split yields what is in s between some characters that are outside quotes and brackets.
func Split(s, chars string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			i := find(s, chars)
			if i > 0 && !yield(s[:i]) {
				return
			}
			s = s[min(i+1, len(s)):]
		}
	}
}

// words yields the words of a value.
func words(v string) iter.Seq[string] { return Split(v, " ,)\t\n\r\f") }

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
