package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/lists"
	"mayfly/ui/session"
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
			DisabledReason: s.requireMessages,
			Run:            func() tea.Cmd { return s.show(s.search.Open()) }},
	}
}

func (s *searching) requireMessages() (disabledReason string) {
	if len(s.store.Messages) == 0 {
		return "There are no messages to search yet"
	}
	return ""
}

// requests reads the bodies that an open search lacks.
func (s *searching) requests() tea.Cmd {
	if !s.search.NeedsTexts() || !slices.Contains(s.dialogs, s.search.Dialog) {
		return nil
	}
	return s.session().ReadTexts(s.store.NextTexts(), &s.store.Opened, func(read []session.Text) tea.Cmd {
		for _, t := range read {
			s.store.SetText(t.Key, t.Text, t.Findings)
		}
		s.store.EndTexts()
		return nil
	})
}

// reset searches the store from now on.
func (s *searching) reset() {
	if s.search == nil {
		s.search = lists.NewSearch(s.store, s.reading.showMessage)
	}
	s.search.In(s.store)
}
