// Package find finds the one-time code and the link that a reader would take out of a mail.
package find

import "mayfly/render/doc"

// Input is a mail as its reader sees it.
type Input struct {
	Subject, Preheader, From string
	Doc                      *doc.Document // the body that is shown
	Text                     *doc.Document // the text part beside it; nil when there is none
}

// Code is a one-time code, or what may be one.
type Code struct {
	Value   string // as it is to be entered
	Score   float64
	Reasons []string
}

// Link is the link that the mail is for, or what may be it.
type Link struct {
	N               int // number in the document; 0 when it stands in the text part only
	URL, Text, Host string
	Score           float64
	Reasons         []string
}

// Result has what was found, the best first. The first is meant only if the Ok beside it is true.
type Result struct {
	Codes  []Code
	CodeOK bool
	Links  []Link
	LinkOK bool
}

// Find looks for the code and the link of a mail.
func Find(in Input) Result { return Result{} }
