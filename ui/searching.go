package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/lists"
	"mayfly/ui/store"
)

// searching searches all messages (ctrl+f).
type searching struct {
	*common
	reading *reading
	search  *lists.Search
}

func (s *searching) actions() []*action {
	return []*action{
		{ID: "search-all", Title: "Search all messages", Hint: "search all", Keys: []string{"ctrl+f"}, Where: anywhere,
			DisabledReason: func() string { return dialog.Reason(len(s.store.Messages) == 0, "There are no messages to search yet") },
			Run:            func() tea.Cmd { return s.show(s.search.Open()) }},
	}
}

// toRead are the messages whose bodies an open search lacks, among others.
func (s *searching) toRead() []string {
	if !s.search.NeedsTexts() || !slices.Contains(s.dialogs, s.search.Dialog) {
		return nil
	}
	return s.store.Keys(store.All)
}

// reset searches the store from now on.
func (s *searching) reset() {
	if s.search == nil {
		s.search = lists.NewSearch(s.store, s.reading.showMessage)
	}
	s.search.In(s.store)
}
