package uitest

import tea "charm.land/bubbletea/v2"

// What tests do to a pane, besides keys that are typed and the mouse.
type (
	Move   int // by rows or lines; negative is up
	Page   int
	First  struct{}
	Last   struct{}
	Mark   struct{}
	Search struct{} // begins the typing
	Back   struct{}
)

// Pane is what the three panes have in common.
type Pane interface {
	Move(n int)
	Page(n int)
	Scroll(n int)
	First()
	Last()
	StartTyping()
	Back() bool
}

// Drive does one of the above to a pane, and reports false if there was nothing to go back from. Other messages
// go to other.
func Drive(p Pane, msg tea.Msg, other func(tea.Msg)) bool {
	switch msg := msg.(type) {
	case nil:
	case Move:
		p.Move(int(msg))
	case Page:
		p.Page(int(msg))
	case First:
		p.First()
	case Last:
		p.Last()
	case Mark:
		p.(interface{ Mark() }).Mark()
	case Search:
		p.StartTyping()
	case Back:
		return p.Back()
	default:
		other(msg)
	}
	return true
}
