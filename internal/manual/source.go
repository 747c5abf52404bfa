package manual

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Glamour breaks code and words with hyphens anywhere, keeps the line breaks of list items and cuts what does not fit into a
// table. So a page is fitted to the width before it is rendered.

// hyphen stands for a hyphen at which no line is broken, until the page is rendered.
const hyphen = "\u2011"

// codeIndent is how far a code block is indented in Markdown, and on the screen.
const codeIndent = "    "

// reference is a link to another page of docs.
var reference = regexp.MustCompile(`\[([^\]]+)\]\((?:\.\./|guides/)?([a-z]+)\.md(?:#[^)]*)?\)`)

// refer puts the command that shows a page in place of a link to it.
func refer(link string) string {
	part := reference.FindStringSubmatch(link)
	command := "`mayfly help " + part[2] + "`"
	if part[1] == part[2]+".md" {
		return command
	}
	return part[1] + " (" + command + ")"
}

// fit is the Markdown of a page such that Glamour can render it width cells wide.
func fit(page string, width int) string {
	page = reference.ReplaceAllStringFunc(page, refer)
	var out []string
	var rows []string // of the table that is being read
	fenced := false
	for _, line := range strings.Split(page+"\n", "\n") {
		fence := strings.HasPrefix(line, "```")
		if !fenced && strings.HasPrefix(line, "|") {
			rows = append(rows, line)
			continue
		}
		if len(rows) > 0 {
			out, rows = append(out, table(rows, width)...), nil
		}
		switch {
		case fence:
			fenced = !fenced
			out = append(out, line)
		case fenced:
			out = append(out, code(line, width)...)
		case strings.HasPrefix(line, codeIndent):
			for _, part := range code(line[len(codeIndent):], width) {
				out = append(out, codeIndent+part)
			}
		case strings.HasPrefix(line, "  "): // more of a list item
			out[len(out)-1] += " " + unbroken(line[2:])
		case strings.HasPrefix(line, "- "):
			out = append(out, "- "+unbroken(line[2:]))
		case strings.HasPrefix(line, "<!--"):
		default:
			out = append(out, unbroken(line))
		}
	}
	return strings.Join(out, "\n")
}

func unbroken(prose string) string { return strings.ReplaceAll(prose, "-", hyphen) }

// code breaks a line of code, between words where it can; what follows a break is indented further.
func code(line string, width int) []string {
	rest := strings.TrimLeft(line, " ")
	width -= len(codeIndent)
	start := min(len(line)-len(rest), width/2)
	indent := strings.Repeat(" ", start)
	var lines []string
	for {
		part := ansi.Truncate(rest, width-len(indent), "")
		if len(part) == len(rest) {
			return append(lines, indent+rest)
		}
		if at := strings.LastIndexByte(rest[:len(part)+1], ' '); at > 0 {
			part = rest[:at]
		}
		lines = append(lines, strings.TrimRight(indent+part, " "))
		rest = strings.TrimLeft(rest[len(part):], " ")
		indent = strings.Repeat(" ", start) + codeIndent
	}
}

// escapedBar stands for a bar within a cell while a row is taken apart: no page has the character.
const escapedBar = "\x00"

// table is a table as wide as width allows: cells that are too long go on in further rows. Where its longest words do not fit
// beside each other it is a list with an item for each row.
func table(rows []string, width int) []string {
	var cells [][]string
	for _, row := range rows {
		line := strings.Split(strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), `\|`, escapedBar), "|")
		for n := range line {
			line[n] = strings.ReplaceAll(strings.TrimSpace(line[n]), escapedBar, `\|`)
		}
		cells = append(cells, line)
	}
	heads, body := cells[0], cells[2:] // the second row is a rule
	widths := columns(heads, body, width)
	if widths == nil {
		return list(heads, body)
	}
	out := rows[:2:2]
	for _, row := range body {
		parts := make([][]string, len(row))
		height := 1
		for n, cell := range row {
			parts[n] = wrap(cell, widths[n])
			height = max(height, len(parts[n]))
		}
		for y := range height {
			line := "|"
			for _, part := range parts {
				if y < len(part) {
					line += part[y]
				}
				line += "|"
			}
			out = append(out, unbroken(line))
		}
	}
	return out
}

// columns are the widths of a table's columns, the widest made narrower until all fit beside each other, nil where they cannot.
func columns(heads []string, body [][]string, width int) []int {
	widths, least := make([]int, len(heads)), make([]int, len(heads))
	total := 0
	for n, head := range heads {
		least[n] = shown(head)
		for _, row := range body {
			widths[n] = max(widths[n], shown(row[n]))
			for _, word := range strings.Fields(row[n]) {
				least[n] = max(least[n], shown(word))
			}
		}
		widths[n] = max(widths[n], least[n])
		total += widths[n] + 2 // the margins of a cell
	}
	for ; total > width; total-- {
		widest := -1
		for n := range widths {
			if widths[n] > least[n] && (widest < 0 || widths[n] > widths[widest]) {
				widest = n
			}
		}
		if widest < 0 {
			return nil
		}
		widths[widest]--
	}
	return widths
}

// shown is the width of text in cells, without the marks around code.
func shown(text string) int { return ansi.StringWidth(strings.ReplaceAll(text, "`", "")) }

// wrap breaks a cell between words; code that goes on is marked on each line.
func wrap(cell string, width int) []string {
	var lines []string
	line, code := "", ""
	for _, word := range strings.Fields(cell) {
		switch {
		case line == "":
			line = word
		case shown(line+" "+word) > width:
			lines = append(lines, line+code)
			line = code + word
		default:
			line += " " + word
		}
		if strings.Count(word, "`")%2 == 1 {
			code = map[string]string{"": "`", "`": ""}[code]
		}
	}
	return append(lines, line)
}

// list is a table as a list.
func list(heads []string, body [][]string) []string {
	var items []string
	for _, row := range body {
		var parts []string
		for n, cell := range row[1:] {
			switch head := heads[n+1]; {
			case cell == "":
			case head == "":
				parts = append(parts, cell)
			default:
				parts = append(parts, head+": "+cell)
			}
		}
		items = append(items, "- "+unbroken(row[0]+": "+strings.Join(parts, "; ")))
	}
	return items
}
