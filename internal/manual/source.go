package manual

import (
	"regexp"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/x/ansi"
)

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

// fit is the Markdown of a page such that Glamour renders it well in width cells. By itself, Glamour keeps the line breaks of list
// items, breaks words at hyphens and code anywhere, and cuts words in narrow tables.
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
			out, rows = append(out, fitTable(rows, width)...), nil
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

// cells are the cells of a row of a table.
func cells(row string) []string {
	cells := strings.Split(strings.Trim(strings.ReplaceAll(unbroken(row), `\|`, escapedBar), "|"), "|")
	for n, cell := range cells {
		cells[n] = strings.ReplaceAll(strings.TrimSpace(cell), escapedBar, `\|`)
	}
	return cells
}

// fitTable is a table as it is where it can be drawn with every heading and every word whole, else a list with an item for each row.
func fitTable(rows []string, width int) []string {
	heads := cells(rows[0])
	drawn := table.New().Width(width).Border(lipgloss.Border{}).BorderLeft(false).BorderRight(false).
		Headers(heads...).StyleFunc(func(int, int) lipgloss.Style { return lipgloss.NewStyle().Margin(0, 1) })
	fitted := []string{unbroken(rows[0]), rows[1]}
	var list, words []string
	for _, row := range rows[2:] {
		row := cells(row)
		fitted = append(fitted, strings.Join(row, "|"))
		list = append(list, listItem(heads, row))
		for n, cell := range row {
			row[n] = strings.ReplaceAll(cell, "`", "")
			words = append(words, strings.Fields(row[n])...)
		}
		drawn.Row(row...)
	}
	text := drawn.String()
	shown := strings.Fields(text)
	if slices.ContainsFunc(heads, func(head string) bool { return !strings.Contains(text, head) }) ||
		slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(shown, word) }) {
		return list
	}
	return fitted
}

// listItem is a row of a table as an item of a list: each cell after the first with its heading.
func listItem(heads, row []string) string {
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
	return "- " + row[0] + ": " + strings.Join(parts, "; ")
}
