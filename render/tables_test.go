package render_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mayfly/internal/mail"
	"mayfly/render"
)

// TestSameTables writes names and amounts in the ways that a browser shows alike, with a line above the total: from left
// to right, and mirrored.
func TestSameTables(t *testing.T) {
	const list = `<ul style="list-style:none;padding:0;margin:0">`
	want := []string{"Tea                                $9.80", "Two cups                          $14.00", strings.Repeat("─", 40), "Total                             $23.80"}
	for _, form := range []struct{ open, row, end string }{
		{`<table width="100%">`, `<tr><td style="%[3]s">%[1]s<td align="right" style="%[3]s">%[2]s`, `</table>`},
		{`<table style="width:100%;border-collapse:collapse">`, `<tr style="%[3]s"><td>%[1]s<td style="text-align:right">%[2]s`, `</table>`},
		{`<table width="100%" style="text-align:right">`, `<tr style="%[3]s"><td align="left">%[1]s<td><p style="margin:0">%[2]s</p>`, `</table>`},
		{"", `<table width="100%%" style="%[3]s"><tr><td>%[1]s<td align="right">%[2]s</table>`, ""},
		{"", `<div style="%[3]s"><table width="100%%"><tr><td>%[1]s<td align="right">%[2]s</table></div>`, ""},
		{"", `<div style="display:flex;justify-content:space-between;%[3]s"><b>%[1]s</b><span>%[2]s</span></div>`, ""},
		{"", `<div style="overflow:hidden;%[3]s"><div style="float:right">%[2]s</div><div style="float:left">%[1]s</div></div>`, ""},
		{"", `<div style="%[3]s"><div style="float:right">%[2]s</div><div>%[1]s</div></div>`, ""},
		{list, `<li style="%[3]s">%[1]s <span style="float:right">%[2]s</span></li>`, `</ul>`},
		{list, `<li style="%[3]s"><b style="float:right">%[2]s</b>%[1]s</li>`, `</ul>`},
		{list, `<li style="display:flex;justify-content:space-between;%[3]s"><span>%[1]s</span><span>%[2]s</span></li>`, `</ul>`},
	} {
		for _, styles := range [][]string{{"", "", "border-top:1px solid #ccc"}, {"", "border-bottom:1px solid #ccc", ""}} {
			body := form.open
			for i, style := range styles {
				body += fmt.Sprintf(form.row, [...]string{"Tea", "Two cups", "Total"}[i], [...]string{"$9.80", "$14.00", "$23.80"}[i], style)
			}
			body += form.end
			alike(t, body, want)
			alike(t, `<div dir="rtl">`+strings.NewReplacer("left", "right", "right", "left").Replace(body)+`</div>`, mirrored(want, 40))
		}
	}
	alike(t, `<table width="100%"><tfoot><tr><td>Total<td align=right>$23.80</tfoot><tr><td>Tea<td align=right>$9.80<tr><td>Two cups<td align=right>$14.00<tr><td colspan=2><hr></table>`, want)
}

// TestGrid draws the lines between cells with borders, and those in a cell of all columns, as wide as the table.
func TestGrid(t *testing.T) {
	line := strings.Repeat("─", 40)
	tea := []string{"Tea  from the hills where it       $9.80", "     rains"}
	cup := "Cup  white                        $14.00"
	const rows = `<tr><td>Tea<td>from the hills where it rains<td>$9.80<tr><td>Cup<td>white<td>$14.00`
	grid := append(slices.Clone(tea), line, cup)
	alike(t, `<table width="100%" border="1">`+rows+`</table>`, grid)
	alike(t, `<style>td { border: 1px solid #999 }</style><table width="100%">`+rows+`</table>`, grid)
	alike(t, `<style>tr { border: 1px solid #999 }</style><table style="width:100%;border-collapse:collapse">`+rows+`</table>`, grid)
	alike(t, `<table>`+rows+`<tr><td colspan="3"><hr><tr><td colspan="3" align="right">Total: $23.80<tr><td colspan="3"><hr><tr><td colspan="3" align="right">Thanks</table>`,
		append(slices.Clone(tea), cup, line, strings.Repeat(" ", 27)+"Total: $23.80", line, strings.Repeat(" ", 34)+"Thanks"))
}

// TestSumsAtTheEnd writes sums at the right edge in the ways that a browser shows alike.
func TestSumsAtTheEnd(t *testing.T) {
	const rows = `<tr><td>Tax<td align="right">$2.00<tr><td>Total<td align="right">$23.80</table>`
	want := []string{strings.Repeat(" ", 20) + "Tax            $2.00", strings.Repeat(" ", 20) + "Total         $23.80"}
	for _, open := range []string{`<table width="50%" align="right">`, `<table style="float:right;width:50%">`, `<table style="width:50%;margin-left:auto">`,
		`<div style="float:right;width:50%"><table width="100%">`, `<table width="100%"><tr><td><td width="50%"><table style="width:inherit">`} {
		alike(t, open+rows, want)
	}
}

// TestSumsUnderColumns writes sums below the columns that they span, or as wide as all of them.
func TestSumsUnderColumns(t *testing.T) {
	const rows = `<table width="100%"><tr><td>Earl Grey<td align="right">2<td align="right">$4.90<td align="right">$9.80`
	const sums = `<tr><td>Tax<td align="right">$2.00<tr><td>Total<td align="right">$11.80</table>`
	alike(t, rows+`<tr><td colspan="2">&nbsp;<td colspan="2"><table width="100%">`+sums+`</table>`,
		[]string{"Earl Grey      2         $4.90     $9.80", "                  Tax              $2.00", "                  Total           $11.80"})
	alike(t, rows+`</table><table width="100%">`+sums, []string{"Earl Grey       2     $4.90        $9.80", "", "Tax                                $2.00", "Total                             $11.80"})
}

// TestHalves writes columns that are as wide as each other in a browser, whatever is in them.
func TestHalves(t *testing.T) {
	for _, body := range []string{`<div style="display:grid;grid-template-columns:1fr 1fr"><div>A text that is much longer than one line</div><div>Short</div></div>`,
		`<table width="100%"><tr><td width="50%">A text that is much longer than one line<td>Short</table>`} {
		alike(t, body, []string{"A text that is much        Short", "longer than one line"})
	}
}

// TestCentredTable writes names and values in the middle of a page, between lines that are, too.
func TestCentredTable(t *testing.T) {
	const rows = `<tr><td colspan="2" align="center">Your data changed:<tr><td align="right">Name:<td align="left">Ada<tr><td align="right">E-mail:<td align="left">ada@mill.example<tr align="center"><td colspan="2">Tell us if it was not you.</table>`
	want := []string{"           Your data changed:", "         Name:  Ada", "       E-mail:  ada@mill.example", "       Tell us if it was not you."}
	for _, open := range []string{`<table style="text-align:center;margin:0 auto">`, `<center><table>`, `<table align="center">`, `<table width="100%"><tr><td align="center"><table>`} {
		alike(t, open+rows, want)
	}
}

// TestRecords turns a table without room into names and values, with the lines between its rows. What is in several
// columns has no name.
func TestRecords(t *testing.T) {
	line := strings.Repeat("─", 32)
	alike(t, `<table border="1"><tr><th>Order number<th>Recipient<th>Payment<th>Weight<tr><td>ORD-2026-1001<td>ada.l@mill.example<td>Credit card<td>2 kg<tr><td>Two<td colspan="2">All of them sent<td>9 kg</table>`,
		[]string{"Order number  ORD-2026-1001", "Recipient     ada.l@mill.example", "Payment       Credit card", "Weight        2 kg", line, "Order number  Two", "All of them sent", "Weight        9 kg"})
}

// alike checks the lines of a body.
func alike(t *testing.T, body string, want []string) {
	t.Helper()
	var got []string
	for _, l := range render.Open(mail.Message{HTML: body}).Lines(render.Rich, render.Options{Width: 40}) {
		got = append(got, strings.TrimRight(l.Plain, " "))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\n%s", body, strings.Join(got, "\n"))
	}
}

// mirrored returns lines with their cells, which two spaces separate, counted from the right.
func mirrored(lines []string, width int) (out []string) {
	for _, line := range lines {
		at := []rune(strings.Repeat(" ", width))
		text := []rune(line)
		for _, cell := range regexp.MustCompile(`\S+(?: \S+)*`).FindAllStringIndex(line, -1) {
			from, to := len([]rune(line[:cell[0]])), len([]rune(line[:cell[1]]))
			copy(at[width-to:], text[from:to])
		}
		out = append(out, strings.TrimRight(string(at), " "))
	}
	return out
}
