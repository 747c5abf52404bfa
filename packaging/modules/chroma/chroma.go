// Package chroma has what Glamour needs of the package of this path to show code in one colour, as the manual does. The
// original reads all of its lexers and styles at each start of a program, which took 13 ms of the 20 of `mayfly --help`.
package chroma

// TokenType is a kind of token in code.
type TokenType int

// The types of tokens for which a style of Glamour can have a colour.
const (
	Text TokenType = iota
	Error
	Background
	Comment
	CommentPreproc
	Keyword
	KeywordReserved
	KeywordNamespace
	KeywordType
	Operator
	Punctuation
	Name
	NameBuiltin
	NameTag
	NameAttribute
	NameClass
	NameConstant
	NameDecorator
	NameException
	NameFunction
	NameOther
	Literal
	LiteralNumber
	LiteralDate
	LiteralString
	LiteralStringEscape
	GenericDeleted
	GenericEmph
	GenericInserted
	GenericStrong
	GenericSubheading
)

// StyleEntries has the colours of tokens.
type StyleEntries map[TokenType]string

// Style is a style by name.
type Style struct {
	Name    string
	Entries StyleEntries
}

// MustNewStyle returns a style.
func MustNewStyle(name string, entries StyleEntries) *Style { return &Style{name, entries} }
