package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/cell"
	"mayfly/ui/input"
	"mayfly/ui/theme"
)

// Prompt asks for one line of text.
type Prompt struct {
	Title string
	Hint  string                   // what the keys do, such as "enter adds it   esc cancels"
	Text  string                   // initial text
	Check func(text string) string // what is wrong with the text, "" if it is valid
	Then  func(text string) any    // the intent of enter
}

// NewPrompt opens a prompt. Check and Then receive the text with surrounding spaces trimmed.
func NewPrompt(p Prompt) Dialog {
	return Box(&prompt{Prompt: p, line: input.New(input.Options{Value: p.Text})})
}

type prompt struct {
	Prompt
	room
	line  *input.Line
	tried bool // enter was pressed
}

func (p *prompt) text() string { return strings.TrimSpace(p.line.Value()) }

func (p *prompt) Update(msg tea.Msg) Result {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch input.KeyName(k) {
		case "esc":
			return Result{Close: true}
		case "enter":
			if p.tried = true; p.Check(p.text()) != "" {
				return Result{}
			}
			return Result{Close: true, Intent: p.Then(p.text())}
		}
	}
	p.line.Update(msg)
	return Result{}
}

func (p *prompt) Rows(th *theme.Theme) (string, []string) {
	width := max(10, min(56, p.w))
	below := th.Dim.On(cell.Cut(p.Hint, width))
	if p.tried {
		if wrong := p.Check(p.text()); wrong != "" {
			below = th.Bad.On(cell.Cut("! "+wrong, width))
		}
	}
	return p.Title, []string{cell.Fit(th.Accent.On("› ")+p.line.View(th, width-2), width), "", below}
}
