package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize/english"

	"mayfly/render/client"
)

// Clients lists what of the HTML mail clients do not support, the gravest first: "client-layout" breaks the
// layout, "client-style" loses decoration. Each has its Use.
func Clients(in Input) []Finding {
	r := &report{source: in.HTML.Source}
	names := in.Rules.Clients
	if len(names) == 0 {
		names = client.Default
	}
	for _, use := range client.Find(in.HTML.Source, names) {
		f := Finding{ID: "client-style", Message: gap(&use, names), Where: "HTML", Alike: 1, Use: &use}
		if use.Layout {
			f.ID = "client-layout"
		}
		if use.Grave() {
			f.Level = Warning
		}
		if !slices.Contains(in.Rules.Ignore, f.ID) {
			r.findings, r.positions = append(r.findings, f), append(r.positions, at(use.Offset))
		}
	}
	r.locate()
	return r.findings
}

// maxGap is how long a message about clients is, in characters: a line of a pane of 80 columns with its mark.
const maxGap = 72

// gap says what happens in which clients, as in "border-radius · 14 places · square corners in Outlook for
// Windows". What clients support in part comes last, where there is room.
func gap(use *client.Use, names []string) string {
	var without, partly []client.Gap
	for _, g := range use.Gaps {
		if g.Lost {
			without = append(without, g)
		} else {
			partly = append(partly, g)
		}
	}
	text := use.Title + " · " + english.Plural(use.Places, "place", "") + " · "
	switch also := "; partly in " + strings.Join(client.Families(partly, names), ", "); {
	case without == nil:
		text = listed(text+"partly in ", client.Families(partly, names))
		if note, _, _ := strings.Cut(partly[0].Note, ". "); note != "" {
			text += ": " + strings.TrimSuffix(note, ".")
		}
	default:
		text = listed(text+cmp.Or(use.Words, "not")+" in ", client.Families(without, names))
		if partly != nil && utf8.RuneCountInString(text+also) <= maxGap {
			text += also
		}
	}
	return ansi.Truncate(text, maxGap, "…")
}

// listed adds names to a text, as many as there is room for.
func listed(text string, names []string) (all string) {
	for n := len(names); n > 0; n-- {
		all = text + strings.Join(names[:n], ", ")
		if more := len(names) - n; more > 0 {
			all += fmt.Sprintf(" and %d more", more)
		}
		if utf8.RuneCountInString(all) <= maxGap {
			break
		}
	}
	return all
}
