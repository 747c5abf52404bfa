package ui

import (
	"strconv"

	"mayfly/render"
	"mayfly/ui/reader"
	"mayfly/ui/theme"
)

// viewTitles are the titles of the views in the palette.
var viewTitles = [...]string{
	render.Rich: "View: rich", render.Text: "View: text", render.HTML: "View: HTML source",
	render.Headers: "View: headers", render.Raw: "View: raw message", render.Checks: "View: checks",
}

// Actions are the actions that affect only this pane. keyFor returns the key bound to an action,
// and noRaw reports that the service provides no raw messages.
func readerActions(p *reader.Pane, keyFor func(id string) string, noRaw func() bool) Table {
	do := func(change func()) func() any { return func() any { change(); return nil } }
	hits := func() string { return p.NeedHits(keyFor("search")) }
	table := Table{
		{ID: "read-on", Held: true, Title: "Next page", Group: Moving, Keys: []string{"space"}, Where: InReader, Run: func() any { return p.Update(theme.Page(1)) }},
		{ID: "search", Title: "Search the message", Hint: "search", Group: Moving, Keys: []string{"/"}, Where: InReader, Why: p.NeedOpen, Run: func() any { return p.Update(theme.Search{}) }},
		{ID: "next-hit", Held: true, Title: "Next match", Hint: "next", Group: Moving, Keys: []string{"n"}, Where: InReader, Why: hits, Run: do(func() { p.Step(1) })},
		{ID: "previous-hit", Held: true, Title: "Previous match", Hint: "previous", Group: Moving, Keys: []string{"N"}, Where: InReader, Why: hits, Run: do(func() { p.Step(-1) })},
		{ID: "end-search", Title: "End the search", Hint: "clear", Group: Moving, Keys: []string{"esc"}, Where: InReader, Why: p.NeedSearch, Run: do(func() { p.EndSearch() })},
		{ID: "show-place", Title: "Go to the place of a check", Hint: "to its place", Group: Message, Keys: []string{"enter"}, Where: InReader, Why: func() string { return p.NeedCheck(keyFor("view-checks")) }, Run: p.ShowPlace},
		{ID: "next-view", Title: "Next view", Hint: "view", Group: Message, Keys: []string{"v"}, Where: Anywhere, Why: p.NeedOpen, Run: do(p.NextView)},
		{ID: "unfold", Title: "Unfold footers and quotes", Group: Message, Keys: []string{"z"}, Where: Anywhere, Why: p.NeedOpen, Run: do(func() { p.ToggleUnfold() })},
		{ID: "hidden", Title: "Show hidden text", Group: Message, Keys: []string{"x"}, Where: Anywhere, Why: p.NeedOpen, Run: p.ToggleHidden},
		{ID: "images", Title: "Show or hide images", Hint: "images", Group: Message, Keys: []string{"i"}, Where: Anywhere, Why: func() string { return p.NeedImages(noRaw()) }, Run: p.ToggleImages},
	}
	for v, name := range reader.Views {
		table = append(table, &Action{
			ID: "view-" + name, Title: viewTitles[v], Row: "View: rich text html headers raw checks", Group: Message, Keys: []string{strconv.Itoa(v + 1)},
			Where: Anywhere, Why: p.NeedOpen, Run: do(func() { p.ShowView(render.View(v)) }),
		})
	}
	return table
}
