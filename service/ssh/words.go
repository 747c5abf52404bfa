package ssh

import (
	"errors"
	"strings"
)

// errQuote is the error of a command line with an open quotation mark.
var errQuote = errors.New("the command line has a quotation mark that is not closed")

// Words splits a command line as a POSIX shell does. Nothing is expanded: what a shell would replace stays as it is.
func Words(line string) (words []string, err error) {
	var word strings.Builder
	quote, within := rune(0), false
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`\n", r) {
				word.WriteByte('\\')
			}
			if r != '\n' {
				word.WriteRune(r)
			}
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, within = true, true
		case r == quote && quote != 0:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, within = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteRune(r)
			within = true
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if escaped {
		word.WriteByte('\\')
	}
	if within {
		words = append(words, word.String())
	}
	return words, nil
}
