package lists

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// DeleteMessagesQuestion asks before messages are deleted. It hands them to remove, and what names them: a subject, or
// how many.
func DeleteMessagesQuestion(in []*store.Message, remove func(in []*store.Message, what string) tea.Cmd) dialog.Dialog {
	what := "“" + in[0].Subject + "”"
	q := dialog.Question{Title: "Delete this message?", Keep: "keep it", Bad: true, Text: []string{what + " from " + in[0].Sender + ". This cannot be undone."}}
	if len(in) > 1 {
		what = fmt.Sprintf("%d messages", len(in))
		q.Title, q.Keep, q.Text = "Delete "+what+"?", "keep them", []string{"This cannot be undone."}
		q.Detail = func(w, most int) []string {
			var subjects []string
			for _, m := range in {
				subjects = append(subjects, m.Sender+": "+m.Subject)
			}
			return some(subjects, w, min(most, 7))
		}
	}
	q.Answers = []dialog.Answer{{Keys: []string{"y"}, Does: "delete", Do: func() tea.Cmd { return remove(in, what) }}}
	return dialog.NewQuestion(q)
}

// EmptyQuestion asks before all messages of an inbox are deleted.
func EmptyQuestion(i *store.Inbox, empty func(*store.Inbox) tea.Cmd) dialog.Dialog {
	return dialog.NewQuestion(dialog.Question{
		Title: "Delete all messages of this inbox?", Keep: "keep them", Bad: true,
		Text:    []string{i.Email, messagesGo(len(i.Keys)) + ", the inbox stays. This cannot be undone."},
		Answers: []dialog.Answer{{Keys: []string{"y"}, Does: "delete", Do: func() tea.Cmd { return empty(i) }}},
	})
}

// messagesGo says that n messages are deleted.
func messagesGo(n int) string {
	if n == 1 {
		return "1 message goes"
	}
	return fmt.Sprintf("%d messages go", n)
}

// ExtendPrompt asks how long an inbox lives from now, and then extends it.
func ExtendPrompt(i *store.Inbox, now time.Time, extend func(time.Duration) tea.Cmd) dialog.Dialog {
	hint := "from now, such as 30m, 2h, 1d"
	if !i.Expires.IsZero() {
		hint += "; it has " + theme.Remaining(i.Expires.Sub(now)) + " left"
	}
	return dialog.NewForm(dialog.Form{
		Title:  "More time for " + i.Name(),
		Fields: []dialog.Field{{Value: "1h", Hint: hint, Check: checkTTL}},
		Then: func(v []string) tea.Cmd {
			ttl, _ := parseTTL(v[0]) // the form has checked it
			return extend(ttl)
		},
	})
}
