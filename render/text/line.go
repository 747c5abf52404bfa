package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mayfly/internal/clean"
)

// line is a line of the body without its quote marks.
type line struct {
	text  string
	depth int  // of quotation
	soft  bool // it continues in the next line
}

func (l line) blank() bool { return strings.TrimSpace(l.text) == "" }

// signatureMark is the line above a signature.
const signatureMark = "-- "

// split splits clean text into lines, and joins the lines of a flowed paragraph.
func split(s string, o Options) []line {
	var lines []line
	var parts []string // of the paragraph so far: joined once, at its end
	end := func() {
		if len(parts) > 1 {
			lines[len(lines)-1].text = strings.Join(parts, "")
		}
	}
	for raw := range strings.SplitSeq(s, "\n") {
		if len(lines) > maxLines {
			break
		}
		l := unquote(raw, o.Flowed)
		if !o.Flowed {
			l.text = clean.ExpandTabs(strings.TrimRight(l.text, " "))
			if l.depth == 0 && raw == signatureMark {
				l.text = signatureMark
			}
			lines = append(lines, l)
			continue
		}
		l.text = strings.TrimPrefix(l.text, " ") // space-stuffing
		if l.text != signatureMark && strings.HasSuffix(l.text, " ") {
			l.soft = true
			if o.DelSp {
				l.text = strings.TrimSuffix(l.text, " ")
			}
		}
		l.text = clean.ExpandTabs(l.text)
		if n := len(lines); n > 0 && lines[n-1].soft && lines[n-1].depth == l.depth && l.text != signatureMark {
			parts = append(parts, l.text)
			lines[n-1].soft = l.soft
			continue
		}
		end()
		lines, parts = append(lines, l), append(parts[:0], l.text)
	}
	end()
	return lines
}

// unquote counts and removes the quote marks. A ">" before "From " is not a quote: mailbox files
// need it. In flowed text, a space ends the quote marks (RFC 3676, 4.4 and 4.5).
func unquote(s string, flowed bool) line {
	if flowed {
		text := strings.TrimLeft(s[:min(len(s), 100)], ">")
		depth := min(len(s), 100) - len(text)
		return line{text: s[depth:], depth: depth}
	}
	if strings.HasPrefix(s, ">From ") {
		return line{text: s[1:]}
	}
	depth := 0
	for rest := s; depth < 100; depth++ {
		rest = strings.TrimPrefix(rest, " ")
		if !strings.HasPrefix(rest, ">") {
			break
		}
		rest = rest[1:]
		s = rest
	}
	if depth > 0 {
		s = strings.TrimPrefix(s, " ")
	}
	return line{text: s, depth: depth}
}

// cutSignature cuts off what follows the last signature mark.
func cutSignature(lines []line) (body, signature []line) {
	for i, l := range slices.Backward(lines) {
		if l.depth == 0 && l.text == signatureMark {
			return lines[:i], lines[i+1:]
		}
	}
	return lines, nil
}

// ruled reports whether a line is nothing but a rule.
func ruled(s string) bool {
	s = strings.TrimSpace(s)
	return utf8.RuneCountInString(s) >= 5 && strings.Trim(s, "-=_*~─━═") == ""
}

// marker returns the marker of the list item that a line begins, or "".
func marker(s string) string {
	s = strings.TrimLeft(s, " ")
	for _, m := range [...]string{"- ", "* ", "• ", "+ ", "– "} {
		if strings.HasPrefix(s, m) && len(s) > len(m) {
			return strings.TrimSpace(m)
		}
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits == 0 || digits > 2 || len(s) < digits+3 || (s[digits] != '.' && s[digits] != ')') || s[digits+1] != ' ' {
		return ""
	}
	return s[:digits+1]
}

// preformatted reports whether the spaces in lines matter: tables, diffs, code.
func preformatted(lines []line) bool {
	columns, drawn, diff, indented := 0, 0, 0, 0
	for _, l := range lines {
		text := strings.TrimLeft(l.text, " ")
		if strings.Contains(text, "   ") {
			columns++
		}
		if strings.Count(text, "|") >= 2 || strings.ContainsAny(text, "│┃┌└├╭╰║╔") || strings.HasPrefix(text, "+-") {
			drawn++
		}
		if strings.HasPrefix(l.text, "@@ ") || strings.HasPrefix(l.text, "diff ") || strings.HasPrefix(l.text, "+++ ") || strings.HasPrefix(l.text, "--- ") {
			diff++
		}
		if len(l.text)-len(text) >= 4 {
			indented++
		}
	}
	n := len(lines)
	return n >= 2 && (columns*2 >= n || drawn*2 >= n || indented == n && marker(lines[0].text) == "") || diff > 0 && n >= 3
}

// proseWidth is the least width at which lines count as wrapped by the sender's program.
const proseWidth = 50

// prose joins lines that the sender's program wrapped: those after which the first word of the next
// line would not have fitted.
func prose(lines []line) string {
	widest := 0
	for _, l := range lines {
		widest = max(widest, utf8.RuneCountInString(l.text))
	}
	var b strings.Builder
	for i, l := range lines {
		text := strings.TrimSpace(l.text)
		b.WriteString(text)
		if i == len(lines)-1 {
			break
		}
		next := strings.TrimSpace(lines[i+1].text)
		word, _, _ := strings.Cut(next, " ")
		switch full := utf8.RuneCountInString(l.text)+1+utf8.RuneCountInString(word) > widest; {
		case openURL(text) && continuesURL(text, next):
		case full && widest >= proseWidth:
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
	}
	return b.String()
}
