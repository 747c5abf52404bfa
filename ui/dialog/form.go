package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
)

// Form asks for one or several lines of text.
type Form struct {
	Title  string
	Fields []Field                       // at least one; one alone is shown without its title
	First  int                           // the field that has focus first
	Then   func(values []string) tea.Cmd // what enter on the last field does, if all are valid
}

// Field is one line of a form. The zero value is an empty one that takes any text.
type Field struct {
	Title       string
	Hint        string   // shown while the field has focus and is valid
	Value       string   // initial value
	Placeholder string   // shown while it is empty
	Suggestions []string // whole values; right or end completes the first match
	Password    bool     // the characters are not shown
	// Check says what is wrong with a value. It may be nil. Values have no spaces around them.
	Check func(value string) error
}

// NewForm opens a form. Enter, tab and down do not leave an invalid field.
func NewForm(f Form) Dialog {
	o := &form{Form: f}
	for _, field := range f.Fields {
		line := NewLine(field)
		line.blur()
		o.lines = append(o.lines, line)
	}
	o.tried = make([]bool, len(f.Fields))
	o.at = f.First
	o.lines[o.at].focus()
	return Box(o)
}

type form struct {
	Form
	room
	lines []*Line
	at    int    // the field that has focus
	tried []bool // fields the user tried to leave while invalid
}

const (
	formWidth   = 58
	promptWidth = 56
	formFoot    = "enter next or done   esc cancels"
	roomyForm   = 8 // rows from which the keys are shown below the fields
)

func (f *form) Update(msg tea.Msg) Result {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch KeyName(k) {
		case "esc":
			return Result{Close: true}
		case "shift+tab", "up":
			f.focus(f.at - 1)
			return Result{}
		case "tab", "down":
			if f.leave() {
				f.focus(f.at + 1)
			}
			return Result{}
		case "enter":
			return f.enter()
		}
	}
	f.lines[f.at].Update(msg)
	return Result{}
}

// enter goes to the next field, and from the last one to the first invalid one. If there is none,
// the form is done.
func (f *form) enter() Result {
	if !f.leave() {
		return Result{}
	}
	if f.at < len(f.Fields)-1 {
		f.focus(f.at + 1)
		return Result{}
	}
	values := make([]string, len(f.lines))
	for n := range f.lines {
		if f.wrong(n) != "" {
			f.focus(n)
			f.leave()
			return Result{}
		}
		values[n] = f.value(n)
	}
	return Result{Close: true, Do: func() tea.Cmd { return f.Then(values) }}
}

func (f *form) focus(n int) {
	f.lines[f.at].blur()
	f.at = max(0, min(n, len(f.lines)-1))
	f.lines[f.at].focus()
}

// leave reports whether the field that has focus may be left.
func (f *form) leave() bool {
	f.tried[f.at] = f.wrong(f.at) != ""
	return !f.tried[f.at]
}

func (f *form) value(n int) string { return strings.TrimSpace(f.lines[n].Value()) }

// wrong is what is wrong with a field, "" if it is valid.
func (f *form) wrong(n int) string {
	if check := f.Fields[n].Check; check != nil {
		if err := check(f.value(n)); err != nil {
			return err.Error()
		}
	}
	return ""
}

func (f *form) Rows(th *theme.Theme) (string, []string) {
	if len(f.Fields) == 1 {
		return f.Title, f.prompt(th, max(10, min(promptWidth, f.w)))
	}
	width, height := max(12, min(formWidth, f.w)), f.h
	footed := height >= roomyForm
	if footed {
		height -= 2
	}
	var rows []string
	first := 0 // row of the field that has focus
	for n := range f.Fields {
		if n > 0 {
			rows = append(rows, "")
		}
		if n == f.at {
			first = len(rows)
		}
		rows = append(rows, f.field(th, n, width)...)
	}
	rows = around(rows, first, height)
	for n := range rows {
		rows[n] = theme.Fit(rows[n], width)
	}
	if footed {
		rows = append(rows, "", th.Dim.On(theme.Cut(formFoot, width)))
	}
	return f.Title, rows
}

// prompt is the line of a form that has only one, and its hint or error.
func (f *form) prompt(th *theme.Theme, w int) []string {
	below := th.Dim.On(theme.Cut(f.Fields[0].Hint, w))
	if wrong := f.wrong(0); wrong != "" && f.tried[0] {
		below = th.Bad.On(theme.Cut("! "+wrong, w))
	}
	return []string{theme.Fit(th.Accent.On("› ")+f.lines[0].View(th, w-2), w), "", below}
}

const fieldRows = 3

// field is the title of a field, its hint or error, and its line.
func (f *form) field(th *theme.Theme, n, w int) []string {
	bar, title, prompt, about := "  ", th.Dim, th.Dim, ""
	if n == f.at {
		bar, title, prompt, about = th.Accent.On("┃")+" ", th.Bright, th.Accent, f.Fields[n].Hint
	}
	style := th.Dim
	if wrong := f.wrong(n); wrong != "" && (f.tried[n] || f.value(n) != "") {
		about = "! " + wrong
		if f.tried[n] {
			style = th.Bad
		}
	}
	w -= 2
	return []string{
		bar + title.On(theme.Cut(f.Fields[n].Title, w)),
		bar + style.On(theme.Cut(theme.StableWidth(about), w)),
		bar + prompt.On("> ") + f.lines[n].View(th, w-2),
	}
}

// around chooses the rows to show in the given height: those around the field that begins at first,
// or at least its title and its line.
func around(rows []string, first, height int) []string {
	switch last := first + fieldRows - 1; {
	case len(rows) <= height:
		return rows
	case height >= fieldRows:
		from := min(first, len(rows)-height)
		return rows[from : from+height]
	case height == 2:
		return []string{rows[first], rows[last]}
	default:
		return rows[last : last+1]
	}
}
