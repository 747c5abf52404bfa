package dialog

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
)

// Form asks for one or several lines of text.
type Form struct {
	Title       string
	Fields      []Field                       // at least one; one alone is shown without its title
	First       int                           // the field that has focus first
	SubmitLabel string                        // what enter does, such as "creates", for a form of several fields
	Then        func(values []string) tea.Cmd // does it, if all fields are valid
	// Asks means that Then asks the service: the form stays open until it is [Answered].
	Async  bool
	Failed string // why it failed, or why the form is needed; shown until something is typed
}

// Answered closes a form that waits for it, or shows the error and what was typed. Other dialogs ignore it.
type Answered struct{ Err string }

// Field is one line of a form. The zero value is an empty one that takes any text.
type Field struct {
	Title       string
	Hint        string                    // shown while the field has focus and is valid
	Describe    func(value string) string // instead of Hint, for what the value means; may be nil
	Value       string                    // initial value
	Placeholder string                    // shown while it is empty
	// Suggestions are whole values, or *@domain for any address there. Right or end completes the first that
	// matches; right goes on to the next.
	Suggestions []string
	Password    bool // the characters are not shown
	// Check says what is wrong with a value. It may be nil. Values have no spaces around them.
	Check func(value string) error
}

// NewForm opens a form. Tab and down do not leave an invalid field.
func NewForm(f Form) Dialog {
	o := &form{Form: f, tried: make([]bool, len(f.Fields))}
	for n, field := range f.Fields {
		line := NewLine(field)
		if n != f.First {
			line.text.Blur()
		}
		o.lines = append(o.lines, line)
	}
	o.at = f.First
	return Box(o)
}

type form struct {
	Form
	room
	lines   []*Line
	at      int    // the field that has focus
	tried   []bool // fields the user tried to leave while invalid
	waiting bool   // to be answered
}

const (
	formWidth   = 58
	promptWidth = 56
	roomyForm   = 8 // rows from which the keys are shown below the fields
	maxFoot     = 3 // rows of an answer or a hint below
)

func (f *form) Update(msg tea.Msg) Result {
	switch msg := msg.(type) {
	case Answered:
		return f.answer(msg)
	case tea.KeyPressMsg:
		switch KeyName(msg) {
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
	if f.lines[f.at].Update(msg) {
		f.Failed = ""
	}
	return Result{}
}

// enter goes to the first invalid field. If there is none, the form is done, or waits.
func (f *form) enter() Result {
	values := make([]string, len(f.lines))
	for n := range f.lines {
		if f.fieldError(n) != "" {
			f.focus(n)
			f.leave()
			return Result{}
		}
		values[n] = f.value(n)
	}
	if f.waiting {
		return Result{}
	}
	f.waiting, f.Failed = f.Async, ""
	return Result{Close: !f.Async, Do: func() tea.Cmd { return f.Then(values) }}
}

// answer ends the waiting.
func (f *form) answer(a Answered) Result {
	if !f.waiting {
		return Result{}
	}
	f.waiting, f.Failed = false, a.Err
	return Result{Close: a.Err == ""}
}

func (f *form) focus(n int) {
	f.lines[f.at].text.Blur()
	f.at = max(0, min(n, len(f.lines)-1))
	f.lines[f.at].text.Focus()
}

// leave reports whether the field that has focus may be left.
func (f *form) leave() bool {
	f.tried[f.at] = f.fieldError(f.at) != ""
	return !f.tried[f.at]
}

func (f *form) value(n int) string { return strings.TrimSpace(f.lines[n].Value()) }

// hint is what a field says while it has focus and is valid.
func (f *form) hint(n int) string {
	if describe := f.Fields[n].Describe; describe != nil {
		return describe(f.value(n))
	}
	return f.Fields[n].Hint
}

// fieldError is what is wrong with a field, "" if it is valid.
func (f *form) fieldError(n int) string {
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
	foot := f.foot(th, f.Failed, theme.FirstFit([]string{"enter " + f.SubmitLabel + "   tab next field   esc cancels", "enter " + f.SubmitLabel + "   esc cancels"}, width), width, 1)
	footed := height >= roomyForm || f.Failed != ""
	if footed {
		height -= len(foot) + 1
	}
	var rows []string
	first := 0 // row of the field that has focus
	for n := range f.Fields {
		if n == f.at {
			first = len(rows)
		}
		rows = append(rows, f.field(th, n, width)...)
	}
	rows = visibleFields(rows, first, height)
	for n := range rows {
		rows[n] = theme.Fit(rows[n], width)
	}
	if footed {
		rows = append(append(rows, ""), foot...)
	}
	return f.Title, rows
}

// foot is what is wrong, else what the keys do, in at most that many rows.
func (f *form) foot(th *theme.Theme, wrong, keys string, w, most int) []string {
	style := th.Dim
	switch {
	case wrong != "":
		keys, style, most = "! "+wrong, th.Bad, maxFoot
	case f.waiting:
		keys = theme.Cut("waiting for the service"+theme.Ellipsis+"   esc continues in the background", w)
	}
	rows := Shorten(keys, w, most)
	for n := range rows {
		rows[n] = style.On(rows[n])
	}
	return rows
}

// prompt is the line of a form that has only one, and its hint or error.
func (f *form) prompt(th *theme.Theme, w int) []string {
	wrong := f.Failed
	if f.tried[0] {
		wrong = cmp.Or(f.fieldError(0), wrong)
	}
	line := theme.Fit(th.Accent.On("› ")+f.lines[0].View(th, w-2), w)
	return append([]string{line, ""}, f.foot(th, wrong, f.hint(0), w, maxFoot)...)
}

const fieldRows = 3

// field is the title of a field, its line, and its hint or error.
func (f *form) field(th *theme.Theme, n, w int) []string {
	bar, title, prompt, about := "  ", th.Dim, th.Dim, ""
	if n == f.at {
		bar, title, prompt, about = th.Accent.On("┃")+" ", th.Bright, th.Accent, f.hint(n)
	}
	style := th.Dim
	if wrong := f.fieldError(n); wrong != "" && (f.tried[n] || f.value(n) != "") {
		about = "! " + wrong
		if f.tried[n] {
			style = th.Bad
		}
	}
	w -= 2
	return []string{
		bar + title.On(theme.Cut(f.Fields[n].Title, w)),
		bar + prompt.On("> ") + f.lines[n].View(th, w-2),
		bar + style.On(theme.Cut(theme.StableWidth(about), w)),
	}
}

// visibleFields chooses the rows to show: those around the field that begins at first, or its title and line.
func visibleFields(rows []string, first, height int) []string {
	if height < 2 { // the line alone
		first++
	}
	from := min(first, max(0, len(rows)-height))
	if height < fieldRows {
		from = first
	}
	return rows[from:min(len(rows), from+height)]
}
