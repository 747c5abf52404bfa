package ui

import (
	"strings"

	"charm.land/bubbles/v2/cursor"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"

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

func (f *form) draw(th *theme.Theme, w, h int) []string {
	f.huh.WithWidth(max(12, min(formWidth, w-4)))
	rows := strings.Split(strings.TrimRight(f.huh.View(), "\n "), "\n")
	return frameBox(th, f.title, append(rows, "", th.Dim.On(f.foot)), w, h)
}

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
