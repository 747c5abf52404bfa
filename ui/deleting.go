package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// deleting deletes inboxes (d), messages (D), or all messages of an inbox (D in the list of inboxes), after a question.
type deleting struct{ *common }

func (d deleting) actions() []*action {
	return []*action{
		withItem(action{ID: "delete-inbox", Title: "Delete inbox (or marked inboxes)", HintNow: func() string { return marked("delete", len(d.inboxes.Marks), "delete inbox") }, Keys: []string{"d"}, Where: anywhere},
			d.inboxesToDelete, d.askInboxes),
		withItem(action{ID: "delete-message", Title: "Delete message (or marked messages)", HintNow: func() string { return marked("delete", len(d.messages.Marks), "") }, First: true, Keys: []string{"D"}, Where: inMessages | inReader},
			d.messagesToDelete, d.askMessages),
		withItem(action{ID: "delete-messages", Title: "Delete all messages of the inbox", Keys: []string{"D"}, Where: inInboxes},
			d.canChange((*api.Client).CannotEmptyInboxes, "This service cannot delete all messages"), d.askContents, func(i *store.Inbox) string {
				return dialog.Reason(len(i.Keys) == 0, "This inbox has no messages")
			}),
	}
}

// marked is the hint of what is done to n marked rows, or otherwise.
func marked(do string, n int, otherwise string) string {
	if n == 0 {
		return otherwise
	}
	return fmt.Sprintf("%s %d marked", do, n)
}

// inboxesToDelete are the marked inboxes, otherwise the one that an action applies to.
func (d deleting) inboxesToDelete() (in []*store.Inbox, disabledReason string) {
	if in = d.inboxes.Marked(); len(in) > 0 {
		return in, ""
	}
	i, reason := d.theInbox()
	return []*store.Inbox{i}, reason
}

// messagesToDelete are the marked messages, otherwise the selected one.
func (d deleting) messagesToDelete() (in []*store.Message, disabledReason string) {
	m, reason := d.theMessage()
	if reason == "" {
		_, reason = d.canChange((*api.Client).CannotDeleteMessages, "This service cannot delete single messages")()
	}
	if in = d.messages.Marked(); len(in) > 0 {
		return in, reason
	}
	return []*store.Message{m}, reason
}

// deletion deletes one or several, one after the other. It belongs to the session in which it was asked for.
type deletion struct {
	session *session.Session
	retry   string // ID of the action that does it again
	words   words
	what    string // the address or the subject, or how many
	steps   []step // that are left
	total   int
	failed  int
}

// words are what deletions are called.
type words struct{ doing, done, failed, lacking string }

var (
	wholeInboxes   = words{doing: "deleting", done: "deleted", failed: "inboxes could not be deleted"}
	singleMessages = words{"deleting", "deleted", "messages could not be deleted", "this service cannot delete single messages"}
	allMessages    = words{doing: "emptying", done: "emptied", lacking: "this service cannot delete all messages"}
)

// step deletes an inbox, or messages of it.
type step struct {
	inboxID string
	keys    []string // of its messages that go, while it stays; nil if the inbox itself goes
	do      func(context.Context) (gone bool, err error)
}

// deleted is the outcome of a step.
type deleted struct {
	gone bool // the service did not have it any more
	err  error
}

func (d deleting) askInboxes(in []*store.Inbox) tea.Cmd {
	s := d.session()
	x := deletion{session: s, retry: "delete-inbox", words: wholeInboxes, what: in[0].Email}
	messages, addresses := 0, make([]string, 0, len(in))
	for _, i := range in {
		id := i.ID
		messages, addresses = messages+len(i.Keys), append(addresses, i.Email)
		x.steps = append(x.steps, step{inboxID: id, do: func(ctx context.Context) (bool, error) { return s.DeleteInbox(ctx, id) }})
	}
	title, text := "Delete this inbox?", []string{x.what, deletionNotice(messages) + " with it. " + forGood}
	switch {
	case len(in) > 1:
		x.what = fmt.Sprintf("%d inboxes", len(in))
		title, text = "Delete "+x.what+"?", []string{deletionNotice(messages) + " with them. " + forGood}
	case in[0].Gone(d.serviceNow()):
		title, text = "Remove this inbox from the list?", []string{x.what, "It no longer exists."}
	}
	return d.ask(title, len(in), addresses, x, text...)
}

func (d deleting) askMessages(in []*store.Message) tea.Cmd {
	s := d.session()
	x := deletion{session: s, retry: "delete-message", words: singleMessages, what: "“" + in[0].Subject + "”"}
	title, text := "Delete this message?", x.what+" from "+in[0].Sender+". "+forGood
	if len(in) > 1 {
		x.what = fmt.Sprintf("%d messages", len(in))
		title, text = "Delete "+x.what+"?", forGood
	}
	var subjects []string
	for _, m := range in {
		inboxID, id := m.InboxID, m.ID
		subjects = append(subjects, m.Sender+": "+m.Subject)
		x.steps = append(x.steps, step{inboxID, []string{m.Key}, func(ctx context.Context) (bool, error) { return s.DeleteMessage(ctx, inboxID, id) }})
	}
	return d.ask(title, len(in), subjects, x, text)
}

// askContents asks before an inbox is emptied. What arrives meanwhile may stay.
func (d deleting) askContents(i *store.Inbox) tea.Cmd {
	id, s := i.ID, d.session()
	x := deletion{session: s, retry: "delete-message", words: allMessages, what: i.Email,
		steps: []step{{id, slices.Clone(i.Keys), func(ctx context.Context) (bool, error) { return s.EmptyInbox(ctx, id) }}}}
	return d.ask("Delete all messages of this inbox?", len(i.Keys), nil, x, i.Email, deletionNotice(len(i.Keys))+"; the inbox is kept. "+forGood)
}

const forGood = "This cannot be undone."

// deletionNotice says that n messages are deleted.
func deletionNotice(n int) string {
	if n == 1 {
		return "1 message will be deleted"
	}
	return fmt.Sprintf("%d messages will be deleted", n)
}

// typedFrom is the number of things above which it has to be typed before they are deleted.
const typedFrom = 50

// ask asks before n things are deleted: one, or several that are listed below.
func (d deleting) ask(title string, n int, all []string, x deletion, text ...string) tea.Cmd {
	x.total = len(x.steps)
	if n > typedFrom {
		return d.typeToDelete(title, n, x)
	}
	q := dialog.Question{Title: title, Text: text, CancelLabel: "keep it", Destructive: true,
		Answers: []dialog.Answer{{Keys: []string{"y"}, Does: "delete", Do: func() tea.Cmd { return d.confirmed(x) }}}}
	if len(all) != 1 {
		q.CancelLabel = "keep them"
	}
	if len(all) > 1 {
		q.Detail = func(w, most int) []string { return truncateList(all, w, min(most, 7)) }
	}
	return d.show(dialog.NewQuestion(q))
}

// typeToDelete asks for the number of what is deleted.
func (d deleting) typeToDelete(title string, n int, x deletion) tea.Cmd {
	number := strconv.Itoa(n)
	return d.show(dialog.NewForm(dialog.Form{
		Title: title,
		Fields: []dialog.Field{{Hint: "Type " + number + " to delete them. " + forGood + "   esc keeps them", Check: func(v string) error {
			if v != number {
				return errors.New("type " + number + " to delete them, or esc to keep them")
			}
			return nil
		}}},
		Then: func([]string) tea.Cmd { return d.confirmed(x) },
	}))
}

// truncateList returns texts in at most that many rows, the last of which says how many more there are.
func truncateList(texts []string, w, rows int) []string {
	var out []string
	for n, t := range texts {
		if n == rows-1 && len(texts) > rows {
			return append(out, fmt.Sprintf("and %d more", len(texts)-n))
		}
		out = append(out, theme.CutMiddle(t, w))
	}
	return out
}

// confirmed begins a deletion. What went while the question was open needs none.
func (d deleting) confirmed(x deletion) tea.Cmd {
	x.steps = slices.DeleteFunc(x.steps, func(s step) bool { return d.store.Inboxes[s.inboxID] == nil })
	if x.total = len(x.steps); x.total == 0 {
		what := x.what
		d.footer.show(outcome{Result: host.Result{EndMatters: true}, note: func() string { return what + " is no longer on the list" }}, d.now)
		return nil
	}
	return d.begin(d.next(x))
}

// next is the request that takes the next step.
func (d deleting) next(x deletion) *session.Request {
	s := x.steps[0]
	r := session.Ask(x.session, x.words.doing+" "+x.what, s.inboxID+strings.Join(s.keys, ""), func(ctx context.Context) (deleted, error) {
		gone, err := s.do(ctx)
		return deleted{gone, err}, nil
	}, func(got deleted) tea.Cmd { return d.took(x, got) })
	if x.total > 1 {
		r.Done, r.Total = x.total-len(x.steps), x.total
	}
	return r
}

// took shows the outcome of a step, and takes the next one.
func (d deleting) took(x deletion, got deleted) tea.Cmd {
	s := x.steps[0]
	x.steps = x.steps[1:]
	switch {
	case errors.Is(got.err, api.ErrUnsupported):
		x.steps = nil // nor are the others
	case got.err != nil:
		x.failed++
	case s.keys == nil:
		x.session.Watcher.Remove(s.inboxID)
		d.drop(s.inboxID)
	default:
		d.store.DropMessages(s.keys...)
		d.updateLists()
	}
	if len(x.steps) > 0 {
		return d.begin(d.next(x))
	}
	return d.report(x.outcome(got, s.keys == nil, d.table.keyFor(x.retry)))
}

// outcome says what was deleted, and sums up several. Retry is the key that retries what failed.
func (x deletion) outcome(last deleted, inbox bool, retry string) host.Result {
	switch {
	case errors.Is(last.err, api.ErrUnsupported):
		return host.Result{Err: errors.New(x.words.lacking)}
	case x.total == 1 && last.err != nil:
		return host.Result{Err: last.err}
	case x.failed > 0:
		return host.Result{Err: fmt.Errorf("%d of %d %s: %s tries again", x.failed, x.total, x.words.failed, retry)}
	case x.total == 1 && last.gone && inbox:
		return host.Result{Text: x.what + " is off the list: it no longer existed", EndMatters: true}
	}
	return host.Result{Text: x.words.done + " " + x.what, EndMatters: x.total == 1}
}
