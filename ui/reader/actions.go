package reader

import (
	"strconv"

	"mayfly/render"
	"mayfly/ui/action"
	"mayfly/ui/theme"
)

// viewTitles are the titles of the views in the palette.
var viewTitles = [...]string{
	render.Rich: "View: rich", render.Text: "View: text", render.HTML: "View: HTML source",
	render.Headers: "View: headers", render.Raw: "View: raw message", render.Checks: "View: checks",
}

// Actions are the actions that affect only this pane. keyFor returns the key bound to an action,
// and noRaw reports that the service provides no raw messages.
func (p *Pane) Actions(keyFor func(id string) string, noRaw func() bool) action.Table {
	do := func(change func()) func() any { return func() any { change(); return nil } }
	hits := func() string { return p.needHits(keyFor("search")) }
	table := action.Table{
		{ID: "read-on", Held: true, Title: "Next page", Group: action.Moving, Keys: []string{"space"}, Where: action.InReader, Run: func() any { return p.Update(theme.Page(1)) }},
		{ID: "search", Title: "Search the message", Hint: "search", Group: action.Moving, Keys: []string{"/"}, Where: action.InReader, Why: p.NeedOpen, Run: func() any { return p.Update(theme.Search{}) }},
		{ID: "next-hit", Held: true, Title: "Next match", Hint: "next", Group: action.Moving, Keys: []string{"n"}, Where: action.InReader, Why: hits, Run: do(func() { p.step(1) })},
		{ID: "previous-hit", Held: true, Title: "Previous match", Hint: "previous", Group: action.Moving, Keys: []string{"N"}, Where: action.InReader, Why: hits, Run: do(func() { p.step(-1) })},
		{ID: "end-search", Title: "End the search", Hint: "clear", Group: action.Moving, Keys: []string{"esc"}, Where: action.InReader, Why: p.needSearch, Run: do(func() { p.search.Clear() })},
		{ID: "show-place", Title: "Go to the place of a check", Hint: "to its place", Group: action.Message, Keys: []string{"enter"}, Where: action.InReader, Why: func() string { return p.needCheck(keyFor("view-checks")) }, Run: p.showPlace},
		{ID: "next-view", Title: "Next view", Hint: "view", Group: action.Message, Keys: []string{"v"}, Where: action.Anywhere, Why: p.NeedOpen, Run: do(p.nextView)},
		{ID: "unfold", Title: "Unfold footers and quotes", Group: action.Message, Keys: []string{"z"}, Where: action.Anywhere, Why: p.NeedOpen, Run: do(func() { p.unfold = !p.unfold })},
		{ID: "hidden", Title: "Show hidden text", Group: action.Message, Keys: []string{"x"}, Where: action.Anywhere, Why: p.NeedOpen, Run: p.toggleHidden},
		{ID: "images", Title: "Show or hide images", Hint: "images", Group: action.Message, Keys: []string{"i"}, Where: action.Anywhere, Why: func() string { return p.needImages(noRaw()) }, Run: p.toggleImages},
	}
	for v, name := range Views {
		table = append(table, &action.Action{
			ID: "view-" + name, Title: viewTitles[v], Row: "View: rich text html headers raw checks", Group: action.Message, Keys: []string{strconv.Itoa(v + 1)},
			Where: action.Anywhere, Why: p.NeedOpen, Run: do(func() { p.showView(render.View(v)) }),
		})
	}
	return table
}
