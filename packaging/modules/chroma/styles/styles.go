// Package styles has the styles that were registered.
package styles

import "github.com/alecthomas/chroma/v2"

// Registry has them by name.
var Registry = map[string]*chroma.Style{}

// Register adds a style, and returns it.
func Register(s *chroma.Style) *chroma.Style {
	Registry[s.Name] = s
	return s
}
