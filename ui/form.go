package ui

import (
	"strings"

	"charm.land/bubbles/v2/cursor"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/theme"
)

// form is a dialog of several fields.
type form struct {
	title  string
	huh    *huh.Form
	finish func(a *app) tea.Cmd
	foot   string
}

func newForm(th *theme.Theme, title string, finish func(a *app) tea.Cmd, fields ...huh.Field) *form {
	f := &form{title: title, finish: finish, foot: "tab next   enter on the last one: done   esc cancels"}
	f.huh = huh.NewForm(huh.NewGroup(fields...)).WithTheme(huhTheme(th)).WithShowHelp(false).WithWidth(formWidth)
	return f
}

const formWidth = 58

// roomyForm is the rows inside the box from which the keys stand under the fields.
const roomyForm = 8

func (f *form) open() tea.Cmd { return f.huh.Init() }

func (f *form) update(msg tea.Msg) intent {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "esc" {
		return intent{close: true}
	}
	if p, ok := msg.(tea.PasteMsg); ok {
		msg = tea.PasteMsg{Content: strings.TrimSpace(cleanLine(p.Content))}
	}
	if _, ok := msg.(cursor.BlinkMsg); ok {
		return intent{} // nothing here blinks, and no timer runs for it
	}
	model, cmd := f.huh.Update(msg)
	if h, ok := model.(*huh.Form); ok {
		f.huh = h
	}
	switch f.huh.State {
	case huh.StateCompleted:
		return intent{close: true, do: f.finish}
	case huh.StateAborted:
		return intent{close: true}
	}
	return intent{cmd: cmd}
}

// fit gives every field its width, and all the rows it takes: what is seen of them is chosen when they are drawn.
func (f *form) fit(w, _ int) {
	f.huh.WithWidth(max(12, min(formWidth, w-4)))
	f.huh.Update(tea.WindowSizeMsg{Width: w, Height: 1 << 10})
}

func (f *form) draw(th *theme.Theme, w, h int) []string {
	room := h - 2
	footed := room >= roomyForm
	if footed {
		room -= 2
	}
	rows := strings.Split(strings.TrimRight(f.huh.View(), "\n "), "\n")
	rows = focusedRows(rows, max(1, room))
	if footed {
		rows = append(rows, "", th.Dim.On(f.foot))
	}
	return frameBox(th, f.title, rows, w, h)
}

// focusedRows chooses the rows that fit: the whole of the field that has focus, or its name and its end, where one types.
func focusedRows(rows []string, room int) []string {
	if len(rows) <= room {
		return rows
	}
	first, last := -1, -1
	for n, r := range rows {
		if strings.HasPrefix(ansi.Strip(r), focusBar) {
			if first < 0 {
				first = n
			}
			last = n
		}
	}
	switch {
	case first < 0:
		return rows[:room]
	case last-first < room:
		from := min(first, len(rows)-room)
		return rows[from : from+room]
	case room == 1:
		return rows[last : last+1]
	}
	return append([]string{rows[first]}, rows[last-room+2:last+1]...)
}

// focusBar is what Huh draws beside the field that has focus.
const focusBar = "┃"

// huhTheme puts our roles into the styles of Huh.
func huhTheme(th *theme.Theme) huh.Theme {
	return huh.ThemeFunc(func(dark bool) *huh.Styles {
		s := huh.ThemeBase(dark)
		c := th.Colors
		accent, dim, bad := lipgloss.NewStyle(), lipgloss.NewStyle(), lipgloss.NewStyle().Bold(true)
		if c.Accent != nil {
			accent = accent.Foreground(c.Accent)
		}
		if c.Dim != nil {
			dim = dim.Foreground(c.Dim)
		} else {
			dim = dim.Faint(true)
		}
		if c.Bad != nil {
			bad = bad.Foreground(c.Bad)
		}
		if c.Accent != nil {
			s.Focused.Base = s.Focused.Base.BorderForeground(c.Accent)
		}
		s.Focused.Title, s.Blurred.Title = lipgloss.NewStyle().Bold(true), dim
		s.Focused.Description, s.Blurred.Description = dim, dim
		s.Focused.ErrorMessage, s.Focused.ErrorIndicator = bad, bad.SetString(" !")
		s.Focused.TextInput.Prompt, s.Blurred.TextInput.Prompt = accent, dim
		s.Focused.TextInput.Placeholder, s.Blurred.TextInput.Placeholder = dim, dim
		s.Focused.TextInput.Cursor = accent
		return s
	})
}
