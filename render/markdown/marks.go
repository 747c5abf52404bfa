package markdown

import (
	"strconv"
	"strings"

	"charm.land/glamour/v2/ansi"

	"mayfly/render/clean"
	"mayfly/render/doc"
)

// Marks in Glamour's output. The source has no control characters, so that they stand for nothing else.
const (
	quoteMark  = '\x01'
	itemMark   = '\x02'
	numberMark = '\x03'
	breakMark  = '\x04' // a further paragraph of an item
	ruleMark   = '\x05'
	columnMark = '\x06'
	rowMark    = '\x0e'
	crossMark  = '\x0f'
)

// Colours that stand for what a run is: red and green are fixed, blue says it.
const (
	tagCode  = 0x10
	tagBlock = 0x11
	tagHref  = 0x12
)

func tag(n int) *string {
	s := "#0001" + strconv.FormatInt(int64(0x100+n), 16)[1:]
	return &s
}

func of[T any](v T) *T { return &v }

func heading(level int) ansi.StyleBlock {
	return ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: tag(level)}}
}

// styles names what each run is.
var styles = ansi.StyleConfig{
	BlockQuote:     ansi.StyleBlock{Indent: of(uint(1)), IndentToken: of(string(quoteMark))},
	List:           ansi.StyleList{LevelIndent: 2},
	Paragraph:      ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{BlockPrefix: string(breakMark)}},
	H1:             heading(1),
	H2:             heading(2),
	H3:             heading(3),
	H4:             heading(4),
	H5:             heading(5),
	H6:             heading(6),
	Emph:           ansi.StylePrimitive{Italic: of(true)},
	Strong:         ansi.StylePrimitive{Bold: of(true)},
	Strikethrough:  ansi.StylePrimitive{CrossedOut: of(true)},
	HorizontalRule: ansi.StylePrimitive{Format: "\n" + string(ruleMark) + "\n"},
	Item:           ansi.StylePrimitive{BlockPrefix: string(itemMark)},
	Enumeration:    ansi.StylePrimitive{BlockPrefix: string(numberMark)},
	Task:           ansi.StyleTask{Ticked: string(itemMark) + "[x] ", Unticked: string(itemMark) + "[ ] "},
	Link:           ansi.StylePrimitive{Color: tag(tagHref)},
	Image:          ansi.StylePrimitive{Color: tag(tagHref)},
	Code:           ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: tag(tagCode)}},
	CodeBlock:      ansi.StyleCodeBlock{StyleBlock: ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: tag(tagBlock)}}},
	Table: ansi.StyleTable{
		ColumnSeparator: of(string(columnMark)), RowSeparator: of(string(rowMark)), CenterSeparator: of(string(crossMark)),
	},
}

// line is a line of Glamour's output, its marks read.
type line struct {
	quotes, indent int
	marker         string // of the list item that begins here
	level          int    // of the heading that it is
	block          bool   // of a code block
	rule           bool
	table          bool // has columns
	ruled          bool // below the headers of a table
	spans          []doc.Span
}

func (l *line) blank() bool {
	return len(l.spans) == 0 && !l.rule && !l.block && !l.ruled && l.marker == ""
}

// run is what is switched on where a run of text stands.
type run struct {
	style doc.Style
	tag   int
	url   string
}

// lines reads Glamour's output.
func (r *reader) lines(out string) []line {
	var lines []line
	cur := line{}
	at := run{style: doc.Style{Size: 16}}
	shown := "" // URL of the link whose text was just written
	write := func(text string) {
		r.add(&cur, text, at, &shown)
	}
	for out != "" {
		i := strings.IndexAny(out, "\x1b\n")
		if i < 0 {
			write(out)
			break
		}
		if i > 0 {
			write(out[:i])
		}
		switch {
		case out[i] == '\n':
			lines = append(lines, cur)
			cur, shown = line{}, ""
			out = out[i+1:]
		case strings.HasPrefix(out[i:], "\x1b["):
			end := strings.IndexByte(out[i:], 'm')
			if end < 0 {
				return append(lines, cur)
			}
			at.sgr(out[i+2 : i+end])
			out = out[i+end+1:]
		case strings.HasPrefix(out[i:], "\x1b]8;"):
			end := strings.IndexByte(out[i:], '\a')
			if end < 0 {
				return append(lines, cur)
			}
			_, at.url, _ = strings.Cut(out[i+4:i+end], ";")
			out = out[i+end+1:]
		default:
			out = out[i+1:]
		}
	}
	return append(lines, cur)
}

// sgr takes the parameters of one SGR sequence.
func (a *run) sgr(params string) {
	p := strings.Split(params, ";")
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case "", "0":
			a.style, a.tag = doc.Style{Size: 16}, 0
		case "1":
			a.style.Bold = true
		case "3":
			a.style.Italic = true
		case "9":
			a.style.Strike = true
		case "38":
			if i+4 < len(p) && p[i+1] == "2" {
				if n, err := strconv.Atoi(p[i+4]); err == nil && p[i+2] == "0" && p[i+3] == "1" {
					a.tag = n
				}
				i += 4
			}
		}
	}
}

// add adds a run of text to a line.
func (r *reader) add(l *line, text string, at run, shown *string) {
	if at.tag == tagBlock {
		l.block = true
	}
	if at.tag >= 1 && at.tag <= 6 {
		l.level = at.tag
	}
	for len(l.spans) == 0 && text != "" && !l.block {
		c := text[0]
		switch {
		case c == quoteMark:
			l.quotes++
		case c == ' ':
			l.indent++
		case c == itemMark:
			l.marker = "•"
		case c == breakMark:
		case c == ruleMark:
			l.rule = true
		case c == rowMark:
			l.ruled = true
		default:
			if n := strings.IndexByte(text, numberMark); n > 0 && strings.Trim(text[:n], "0123456789") == "" {
				l.marker = text[:n] + "."
				text = text[n:]
				break
			}
			goto words
		}
		text = text[1:]
	}
words:
	if text == "" {
		return
	}
	if at.tag == tagHref {
		if at.url != "" && at.url == *shown {
			// The target of a link whose text stands before it, and the space between them.
			if n := len(l.spans); n > 1 && l.spans[n-1].Text == " " {
				l.spans = l.spans[:n-1]
			}
			return
		}
		if at.url == "" && strings.TrimSpace(text) == "" {
			return
		}
	}
	l.table = l.table || strings.ContainsRune(text, columnMark)
	text = strings.ReplaceAll(text, string(breakMark), "\n")
	span := doc.Span{Style: at.style}
	span.Style.Mono = at.tag == tagCode || at.tag == tagBlock
	for i, part := range strings.Split(text, string(columnMark)) {
		if i > 0 {
			l.spans = append(l.spans, doc.Span{Text: cellEnd})
		}
		if part = clean.ExpandTabs(clean.Text(part)); part == "" {
			continue
		}
		span.Text = part
		if at.url != "" {
			if span.Link = r.links.Add(at.url); span.Link > 0 {
				r.links.Say(span.Link, part)
			}
			*shown = at.url
		}
		l.spans = append(l.spans, span)
	}
}

// cellEnd is the text of the span that stands between two cells of a row.
const cellEnd = "\x00"
