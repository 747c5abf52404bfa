package html

import (
	"strings"

	"golang.org/x/net/html"
)

// Parse returns the tree of an HTML body, within the bounds of [Read]. It fails if elements are nested too deeply.
func Parse(source string) (*html.Node, error) {
	return html.ParseWithOptions(strings.NewReader(limit(source).html), html.ParseOptionEnableScripting(false))
}
