package ui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/compare"
	"mayfly/ui/store"
)

// comparing shows how two messages differ (=).
type comparing struct {
	*common
	reading *reading
}

func (c comparing) actions() []*action {
	return []*action{
		withItem(action{ID: "compare", Title: "Compare with the previous similar message, or two marked", First: true,
			HintNow: func() string { return marked("compare", len(c.messages.Marks), "") }, Keys: []string{"="}, Where: anywhere}, c.messagesToCompare, c.compare),
	}
}

// messagesToCompare returns the messages to compare, the older first: the two that are marked, or the message
// and the last one before it of its sender and kind; or the reason if there are none.
func (c comparing) messagesToCompare() (pair [2]*store.Message, reason string) {
	if marked := c.messages.Marked(); len(marked) == 2 {
		return [2]*store.Message{marked[1], marked[0]}, ""
	}
	m := c.message()
	switch n := len(c.messages.Marks); {
	case n == 1:
		return pair, "Mark a second message to compare: " + c.table.keyFor("mark") + ", or none"
	case n > 2:
		return pair, fmt.Sprintf("%d messages are marked: two can be compared", n)
	case m == nil:
		return pair, "Select a message first"
	}
	before := c.store.PreviousSimilar(m)
	if before == nil {
		return pair, "No earlier similar message from " + m.Sender
	}
	return [2]*store.Message{before, m}, ""
}

func (c comparing) compare(pair [2]*store.Message) tea.Cmd {
	s, older, newer := c.session(), c.reading.source(pair[0]), c.reading.source(pair[1])
	return ask(c.common, "comparing two messages", pair[0].Key+pair[1].Key, func(ctx context.Context) (func() tea.Cmd, error) {
		before, err := s.Read(ctx, older)
		if err != nil {
			return nil, err
		}
		after, err := s.Read(ctx, newer)
		if err != nil {
			return nil, err
		}
		d := compare.New(compare.Of(before, after))
		return func() tea.Cmd { return c.show(d) }, nil
	}, c.unlessBusy)
}
