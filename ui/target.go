package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/host"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// maxSought is how many of the newest messages are looked through for a code or a link.
const maxSought = 20

// finding is what c and o look for in messages; of returns it, "" if there is none.
type finding struct {
	name string
	of   func(f *store.Findings) string
}

var (
	code = &finding{"code", func(f *store.Findings) string { return f.Code }}
	link = &finding{"confirmation link", func(f *store.Findings) string { return f.Link.URL }}
)

// target is what was asked for while a message that may have it was still being read.
type target struct {
	finding *finding
	from    []*store.Message // those that may have it, the first of them being read
	err     error            // why that one could not be read
}

// wentTo is the message that the user went to, open or selected; nil if they went to none.
func (a *app) wentTo() *store.Message {
	if a.focus == theme.Reader || a.messages.Placed() {
		return a.message()
	}
	return nil
}

// candidates are the messages to look in: the one that the user went to, or the newest of those listed.
func (a *app) candidates() []*store.Message {
	if m := a.wentTo(); m != nil {
		return []*store.Message{m}
	}
	keys := a.messages.IDs()
	var from []*store.Message
	for _, key := range keys[:min(len(keys), maxSought)] {
		if m := a.store.Messages[key]; m != nil {
			from = append(from, m)
		}
	}
	return from
}

// seek returns the messages from the first that has a finding, or that has not been read yet.
func (f *finding) seek(from []*store.Message) []*store.Message {
	n := slices.IndexFunc(from, func(m *store.Message) bool { return m.Findings == nil || f.of(m.Findings) != "" })
	if n < 0 {
		return nil
	}
	return from[n:]
}

// needFinding is the reason when there is nothing to take; none says so of the message that the user went to.
func (a *app) needFinding(f *finding, none string) string {
	switch {
	case len(f.seek(a.candidates())) > 0:
		return ""
	case a.wentTo() != nil:
		return none
	case a.messages.Len() == 0:
		return "There are no messages yet"
	case a.messages.Len() > maxSought:
		return fmt.Sprintf("None of the newest %d messages has a %s", maxSought, f.name)
	}
	return "No message here has a " + f.name
}

// take copies the code, or asks to open the link, of the message that the user went to, otherwise the newest
// one. If a message that may have it is still being read, it does so when that is done.
func (a *app) take(f *finding) tea.Cmd {
	a.target = target{finding: f, from: a.candidates()}
	a.store.RetryPrefetches()
	cmd, delivered := a.deliver(false)
	if !delivered {
		a.note("Reading the message from " + a.target.from[0].Sender + "…")
	}
	return cmd
}

// deliver delivers the target once it has been found; false while it has not. No question opens while the
// user is busy: the letters being typed would answer it.
func (a *app) deliver(busy bool) (cmd tea.Cmd, delivered bool) {
	t := a.target
	if t.finding == nil {
		return nil, false
	}
	from := t.finding.seek(slices.DeleteFunc(t.from, func(m *store.Message) bool {
		return m.Findings == nil && a.store.Messages[m.Key] == nil // gone before it was read
	}))
	unread := len(from) > 0 && from[0].Findings == nil
	if unread && t.err == nil {
		a.target.from = from
		return nil, false
	}
	a.target = target{}
	switch {
	case unread:
		a.report(host.Done{Err: fmt.Errorf("read the message from %s: %w", from[0].Sender, t.err)})
	case len(from) == 0:
		a.note("No " + t.finding.name + " was found")
	case t.finding == code:
		m := from[0]
		return a.copy(m.Findings.Code, m.Findings.Code+a.origin(m)+a.overtaken(code, m)), true
	case busy:
		a.note(goneOn)
	default:
		m := from[0]
		if text := a.origin(m) + a.overtaken(link, m); text != "" {
			a.note("The link" + text)
		}
		return a.askOpen(m.Findings.Link), true
	}
	return nil, true
}

// origin says where something was found, unless that is the selected message.
func (a *app) origin(m *store.Message) string {
	if m == a.message() && a.focus != theme.Inboxes {
		return ""
	}
	text := " from " + m.Sender
	if age := theme.Age(a.now.Sub(m.Received)); age != "now" {
		text += ", " + age + " ago"
	}
	return text
}

// overtaken says that the inbox of a message has got a newer finding, or newer mail that may have one.
func (a *app) overtaken(f *finding, m *store.Message) string {
	keys := a.store.Keys(m.InboxID)
	for _, key := range keys[:min(len(keys), maxSought)] {
		switch newer := a.store.Messages[key]; {
		case key == m.Key:
			return ""
		case newer.Findings == nil:
			return "; newer mail came"
		case f.of(newer.Findings) == "" || f.of(newer.Findings) == f.of(m.Findings):
		case f == code:
			return "; a newer code came: " + newer.Findings.Code
		default:
			return "; a newer one came"
		}
	}
	return ""
}

// copyAddress copies the address of an inbox. The time until mail arrives is measured from now.
func (a *app) copyAddress(i *store.Inbox) tea.Cmd {
	a.session().Watcher.Touch(i.ID)
	i.CopiedAt, a.target = a.now, target{}
	return a.copy(i.Email, i.Email)
}

// copyWhenRead notes mail whose codes are to be copied, the newest first.
func (a *app) copyWhenRead(mail []*store.Message) {
	a.copying = append(slices.Clone(mail), a.copying...)
	slices.SortStableFunc(a.copying, func(x, y *store.Message) int { return y.Received.Compare(x.Received) })
	a.copying = a.copying[:min(len(a.copying), maxSought)]
}

// copyFound copies the newest code found in new mail. An older one that comes later does not replace it.
func (a *app) copyFound() tea.Cmd {
	for n, m := range a.copying {
		if m.Findings == nil || m.Findings.Code == "" {
			continue
		}
		what := "the new code " + m.Findings.Code + " from " + m.Sender
		if a.inboxes.Selected() != m.InboxID {
			what += " for " + a.nameOf(m)
		}
		a.copying = a.copying[:n]
		return a.copy(m.Findings.Code, what)
	}
	return nil
}

// toRead returns the keys of the messages to read ahead of the user, the most urgent first.
func (a *app) toRead() []string {
	var keys []string
	if len(a.target.from) > 0 {
		keys = append(keys, a.target.from[0].Key)
	}
	if a.elsewhere != nil {
		keys = append(keys, a.elsewhere.Key)
	}
	for _, m := range a.copying {
		keys = append(keys, m.Key)
	}
	return append(keys, a.messages.Keys()...)
}
