package manual

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Glamour breaks code and words with hyphens anywhere, keeps the line breaks of list items and squeezes tables until words
// break. So a page is fitted to the width before it is rendered.

// hyphen stands for a hyphen at which no line is broken, until the page is rendered.
const hyphen = "\u2011"

// codeIndent is how far a code block is indented in Markdown, and on the screen.
const codeIndent = "    "

// reference is a link to another page of docs.
var reference = regexp.MustCompile(`\[([^\]]+)\]\(([a-z]+)\.md(?:#[^)]*)?\)`)

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

// table is a table as it is where its longest words fit beside each other, else a list with an item for each row.
func table(rows []string, width int) []string {
	var cells [][]string
	for _, row := range rows {
		line := strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
		for n := range line {
			line[n] = strings.TrimSpace(line[n])
		}
		cells = append(cells, line)
	}
	heads, body := cells[0], cells[2:] // the second row is a rule
	fits := room(heads, body) <= width
	var out []string
	if fits {
		out = append(out, rows[:2]...)
	}
	for _, row := range body {
		if fits {
			out = append(out, "| "+unbroken(strings.Join(row, " | "))+" |")
			continue
		}
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
		out = append(out, "- "+unbroken(row[0]+": "+strings.Join(parts, "; ")))
	}
	return out
}

// room is how many cells a table takes at the least: heads are cut rather than broken, other cells break between words.
func room(heads []string, body [][]string) int {
	total := 0
	for n, head := range heads {
		longest := ansi.StringWidth(head)
		for _, row := range body {
			for _, word := range strings.Fields(strings.ReplaceAll(row[n], "`", "")) {
				longest = max(longest, ansi.StringWidth(word))
			}
		}
		total += longest + 3 // a space at either side, and one between
	}
	return total
}
