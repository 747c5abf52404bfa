// Package check looks at a mail as a tester does before it is sent.
package check

// Level is how much a finding matters.
type Level int

const (
	Info Level = iota
	Warning
	Error
)

// String is info, warning or error.
func (l Level) String() string { return [...]string{"info", "warning", "error"}[l] }

// Finding is one thing to look at.
type Finding struct {
	ID      string // stays the same between releases
	Level   Level
	Message string // one line
	Where   string // where in the mail
}
