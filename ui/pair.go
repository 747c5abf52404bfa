package ui

import (
	"fmt"

	"mayfly/ui/store"
)

// Pair returns the messages to compare, the older one first: the two that are marked, or else the
// message and the last one before it of its sender and kind. It returns the reason if there are no
// two; key is the one that marks.
func (w *Workspace) Pair(key string) (pair [2]*store.Message, reason string) {
	if marked := w.Messages.Pair(); marked != nil {
		return [2]*store.Message(marked), ""
	}
	m := w.Message()
	switch n := len(w.Messages.Marks); {
	case n == 1:
		return pair, "One message is marked: mark another with " + key + ", or none"
	case n > 2:
		return pair, fmt.Sprintf("%d messages are marked: two can be compared", n)
	case m == nil:
		return pair, "Select a message first"
	}
	before := w.Store.Before(m)
	if before == nil {
		return pair, "No earlier message of this kind from " + m.Sender
	}
	return [2]*store.Message{before, m}, ""
}
