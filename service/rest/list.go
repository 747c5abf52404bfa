package rest

import "iter"

// elements returns the elements of a list in header fields: what is between commas outside of
// quoted strings (RFC 9110, section 5.6.1).
func elements(fields []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, field := range fields {
			start, quoted := 0, false
			for i := 0; i <= len(field); i++ {
				switch {
				case i == len(field), field[i] == ',' && !quoted:
					if !yield(field[start:i]) {
						return
					}
					start = i + 1
				case field[i] == '\\' && quoted:
					i++
				case field[i] == '"':
					quoted = !quoted
				}
			}
		}
	}
}
