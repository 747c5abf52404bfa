package ui

import (
	"strconv"

	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/reader"
)

// viewing changes how the open message is shown: its views, what is folded, hidden or rendered, and the search in it. Nothing
// is fetched here.
type viewing struct{ *common }

// viewTitles are the titles of the views in the palette.
var viewTitles = [...]string{
	render.Rich: "View: rich", render.Text: "View: text", render.HTML: "View: HTML source",
	render.Headers: "View: headers", render.Raw: "View: raw message", render.Checks: "View: checks",
	render.Web: "View: web (rendered by a browser)",
}

func (v viewing) actions() []*action {
	open := func() string { return v.reader.RequireOpen() }
	hits := func() string { return v.reader.RequireHits(v.table.keyFor("search")) }
	table := []*action{
		{ID: "search", Title: "Search the message", Hint: "search", Keys: []string{"/"}, Where: inReader, DisabledReason: open,
			Run: noCmd(func() { v.reader.StartTyping() })},
		{ID: "next-match", Repeats: true, First: true, Title: "Next match", Hint: "next", Keys: []string{"n"}, Where: inReader, DisabledReason: hits,
			Run: noCmd(func() { v.reader.Step(1) })},
		{ID: "previous-match", Repeats: true, First: true, Title: "Previous match", Hint: "previous", Keys: []string{"N"}, Where: inReader, DisabledReason: hits,
			Run: noCmd(func() { v.reader.Step(-1) })},
		{ID: "clear-search", First: true, Title: "Clear the search", Hint: "clear", Keys: []string{"esc"}, Where: inReader,
			DisabledReason: func() string { return v.reader.RequireSearch() }, Run: noCmd(func() { v.reader.Back() })},
		{ID: "show-source", Title: "Jump to a finding's source", Hint: "jump to source", Keys: []string{"enter"}, Where: inReader,
			DisabledReason: func() string { return v.reader.RequireCheck(v.table.keyFor("view-checks")) },
			Run:            noCmd(func() { v.note(v.reader.ShowPlace()) })},
		{ID: "next-view", Title: "Next view", Hint: "view", Keys: []string{"v"}, Where: anywhere, DisabledReason: open,
			Run: noCmd(func() { v.reader.NextView() })},
		{ID: "unfold", Title: "Unfold footers, quotes and checks", Keys: []string{"z"}, Where: anywhere, DisabledReason: open,
			Run: noCmd(func() { v.reader.ToggleUnfold() })},
		{ID: "hidden-text", Title: "Show hidden text", Keys: []string{"x"}, Where: anywhere, DisabledReason: open,
			Run: noCmd(func() {
				v.noteEither(v.reader.ToggleHidden(), "Hidden text is shown", "Hidden text off")
			})},
		{ID: "images", Title: "Show or hide images", Hint: "images", Keys: []string{"i"}, Where: anywhere,
			DisabledReason: func() string { return v.reader.RequireImages(v.session() != nil && v.session().NoRaw) },
			Run:            noCmd(func() { v.noteEither(v.reader.ToggleImages(), "", "The images are hidden again") })},
	}
	for n, name := range reader.Views {
		table = append(table, &action{
			ID: "view-" + name, Title: viewTitles[n], Keys: []string{strconv.Itoa(n + 1)},
			Where: anywhere, DisabledReason: open, Run: noCmd(func() { v.reader.ShowView(render.View(n)) }),
		})
	}
	painted := func() string {
		return dialog.Reason(v.reader.View != render.Web, "Only available in the web view: "+v.table.keyFor("view-web")+" shows it")
	}
	return append(table, []*action{
		{ID: "web-phone", Title: "Web view: toggle phone width", HintNow: func() string { return either(v.reader.Look.Phone, "desktop", "phone") }, First: true, Keys: []string{"w"}, Where: anywhere, DisabledReason: painted,
			Run: noCmd(func() { v.reader.Look.Phone = !v.reader.Look.Phone })},
		{ID: "web-dark", Title: "Web view: toggle dark mode", HintNow: func() string { return either(v.reader.Look.Dark, "light", "dark") }, First: true, Keys: []string{"W"}, Where: anywhere, DisabledReason: painted,
			Run: noCmd(func() { v.reader.Look.Dark = !v.reader.Look.Dark })},
	}...)
}
