// Package quick writes code.
package quick

import "io"

// Highlight writes code in one colour, whatever its language and the style.
func Highlight(w io.Writer, code, _, _, _ string) error {
	_, err := io.WriteString(w, code)
	return err
}
