package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize/english"

	"mayfly/render/client"
)

// Clients lists what of an HTML body mail clients do not support, what breaks the layout first.
func Clients(source string, rules Rules) []Finding {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	r := &report{source: source}
	if rules.Clients == nil {
		rules.Clients = client.Default
	}
	for _, use := range client.Find(source, rules.Clients) {
		f := Finding{ID: "client-style", Level: Decoration, Where: "HTML", Use: use, Alike: 1}
		if use.Layout && use.Gaps[0].Support == "no" {
			f.ID, f.Level = "client-layout", Layout
		}
		if !slices.Contains(rules.Ignore, f.ID) {
			f.Message = gap(use)
			r.findings, r.positions = append(r.findings, f), append(r.positions, at(use.Offset))
		}
	}
	r.locate()
	slices.SortStableFunc(r.findings, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	return r.findings
}

// gap says what happens in which clients, as in "border-radius · 14 places · square corners in Outlook for Windows".
func gap(use *client.Use) string {
	const room = 72 // in a line of a pane of 80 columns, beside its mark
	text := use.Title + " · " + english.Plural(use.Places, "place", "")
	without, partly := client.Families(use.Gaps, "no"), client.Families(use.Gaps, "partly")
	if without != "" {
		text += " · " + cmp.Or(use.Effect, "not") + " in " + without
	}
	if also := " · partly in " + partly; partly != "" && (without == "" || ansi.StringWidth(text+also) <= room) {
		text += strings.TrimRight(also+": "+use.Gaps[0].Note, ": ")
	}
	return ansi.Truncate(text, room, "…")
}
