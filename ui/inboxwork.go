package ui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/registry"
	"mayfly/ui/sample"
)

// newInbox makes an inbox and copies its address.
func (a *app) newInbox() tea.Cmd { return a.create(api.CreateInbox{}, true) }

// createdMsg is the outcome of making an inbox.
type createdMsg struct {
	session *session
	inbox   api.Inbox
	copy    bool
	err     error
	request api.CreateInbox
}

func (a *app) create(n api.CreateInbox, copyAddress bool) tea.Cmd {
	s := a.session
	a.link.creating = true
	return s.do(func(ctx context.Context) tea.Msg {
		in, err := s.conn.Client.CreateInbox(ctx, n)
		if err == nil {
			s.remember(registry.Inbox{ID: in.ID, Email: in.Email, CreatedAt: in.CreatedAt, ExpiresAt: in.ExpiresAt})
		}
		return createdMsg{session: s, inbox: in, copy: copyAddress, err: err, request: n}
	})
}

func (m createdMsg) apply(a *app) tea.Cmd {
	if m.session != a.session {
		return nil
	}
	a.link.creating = false
	if m.err != nil {
		if k := kindOf(m.err); k == troubleKey || k == troublePlan {
			a.link.err = m.err
		}
		return a.fail(m.err)
	}
	i := a.follows(m.inbox)
	if a.keysTaken() {
		a.refreshLists()
	} else {
		a.selectInbox(i.id)
		a.focus = paneMessages
		if a.reader.reading() {
			a.leaveMessage()
		}
	}
	if !m.copy {
		return nil
	}
	return a.copyOf(i)
}

// follows puts an inbox into the book and has it watched.
func (a *app) follows(in api.Inbox) *inbox {
	i, isNew := a.book.put(in, "", a.now)
	if isNew {
		i.generation = a.session.watcher.Add(i.id)
	}
	return i
}

// remember keeps an inbox in the registry of this machine. What cannot be kept is only not known
// the next time; the inbox itself is there.
func (s *session) remember(k registry.Inbox) {
	if s.conn.Registry != nil {
		_ = s.conn.Registry.Put(k)
	}
}

func (a *app) copyAddress() tea.Cmd { return a.copyOf(a.inbox()) }

// copyOf copies an address; the time until mail arrives is measured from here.
func (a *app) copyOf(i *inbox) tea.Cmd {
	i.copiedAt = a.now
	a.session.watcher.Touch(i.id)
	return a.toClipboard(i.email, i.email)
}

// askDelete asks before the inbox is deleted.
func (a *app) askDelete() tea.Cmd { return a.askDeletion([]*inbox{a.inbox()}) }

func (a *app) askDeleteMarked() tea.Cmd { return a.askDeletion(a.inboxes.marked()) }

func (a *app) askDeletion(in []*inbox) tea.Cmd {
	messages, ids, addresses := 0, make([]string, 0, len(in)), make([]string, 0, len(in))
	for _, i := range in {
		messages += len(i.ids)
		ids, addresses = append(ids, i.id), append(addresses, i.email)
	}
	q := &ask{
		title: "Delete this inbox?", yes: []string{"y"}, does: "delete", keep: "keep it", bad: true,
		act: func(a *app) tea.Cmd { return a.delete(ids) },
	}
	going := counted(messages, "message goes", "messages go")
	switch {
	case len(in) > 1:
		q.title, q.keep = fmt.Sprintf("Delete %d inboxes?", len(in)), "keep them"
		q.text = []string{going + " with them. This cannot be undone."}
		q.detail = func(w, most int) []string { return someOf(addresses, w, min(most, 7)) }
	case in[0].gone(a.now):
		q.title, q.text = "Take this inbox off the list?", []string{addresses[0], "It is gone already."}
	default:
		q.text = []string{addresses[0], going + " with it. This cannot be undone."}
	}
	return a.push(q)
}

// someOf are as many of the texts as rows there may be, one each, and how many more there are.
func someOf(texts []string, w, rows int) []string {
	var out []string
	for n, t := range texts {
		if n == rows-1 && len(texts) > rows {
			return append(out, fmt.Sprintf("and %d more", len(texts)-n))
		}
		out = append(out, address(t, w))
	}
	return out
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}

// deletedMsg is the outcome of deleting one inbox, and what is left to delete.
type deletedMsg struct {
	session *session
	id      string
	rest    []string
	failed  int
	total   int
	err     error
}

// delete deletes inboxes one after the other.
func (a *app) delete(ids []string) tea.Cmd {
	a.work = progress{what: "Deleting", total: len(ids)}
	return a.session.deletion(deletedMsg{total: len(ids), rest: ids})
}

func (s *session) deletion(m deletedMsg) tea.Cmd {
	m.session, m.id, m.rest = s, m.rest[0], m.rest[1:]
	return s.do(func(ctx context.Context) tea.Msg {
		m.err = s.conn.Client.DeleteInbox(ctx, m.id)
		if errors.Is(m.err, api.ErrNotFound) {
			m.err = nil // gone is what it was to be
		}
		if m.err == nil && s.conn.Registry != nil {
			_ = s.conn.Registry.Remove(m.id) // an entry too many is found gone the next time
		}
		return m
	})
}

func (m deletedMsg) apply(a *app) tea.Cmd {
	if m.session != a.session {
		a.work = progress{}
		return nil
	}
	a.work.done++
	did := ""
	if m.err != nil {
		m.failed++
	} else if i := a.book.inboxes[m.id]; i != nil {
		did = "deleted " + i.email
		if i.gone(a.now) {
			did = i.name() + " is off the list"
		}
		a.drop(m.id)
	}
	if len(m.rest) > 0 {
		return a.session.deletion(deletedMsg{rest: m.rest, failed: m.failed, total: m.total})
	}
	a.work = progress{}
	switch {
	case m.err != nil && m.total == 1:
		return a.fail(m.err)
	case m.failed > 0:
		return a.say(trouble, fmt.Sprintf("%d of %d inboxes could not be deleted: %s tries again", m.failed, m.total, a.keyFor("delete-marked")))
	case m.total == 1:
		return a.say(done, did)
	}
	return a.say(done, fmt.Sprintf("deleted %d inboxes", m.total))
}

// drop takes an inbox off the screen.
func (a *app) drop(id string) {
	a.session.watcher.Remove(id)
	a.dropped[id] = true
	if a.reader.message != nil && a.reader.message.inboxID == id {
		if a.keysTaken() {
			a.reader.ended = true
		} else {
			a.reader.close()
		}
	}
	a.book.forget(id)
	a.refreshLists()
	if a.focus != paneInboxes && a.inboxes.selected() == nil && !a.keysTaken() {
		a.focus = paneInboxes
	}
}

func (a *app) mark() tea.Cmd {
	marks, id := a.inboxes.marks, a.inboxes.list.Selected()
	if a.focus == paneMessages {
		marks, id = a.messages.marks, a.messages.list.Selected()
	}
	if marks[id] {
		delete(marks, id)
	} else {
		marks[id] = true
	}
	a.column().Move(1)
	return a.moved()
}

func (a *app) pause() tea.Cmd {
	i := a.inbox()
	i.paused = !i.paused
	a.session.watcher.Pause(i.id, i.paused)
	if i.paused {
		return a.say(note, i.name()+" is paused: "+a.keyFor("pause")+" goes on, "+a.keyFor("refresh")+" looks once")
	}
	return a.say(note, i.name()+" is watched again")
}

// refresh asks for the lists again, or tries to connect again.
func (a *app) refresh() tea.Cmd {
	if k := kindOf(a.link.err); a.session == nil || a.link.lost || k == troubleKey || k == troublePlan {
		return a.connect(a.wanted)
	}
	if a.reader.err != nil && a.reader.message != nil {
		a.reader.err = nil
		return a.openMessage(a.reader.message)
	}
	id := ""
	if i := a.inboxes.selected(); i != nil {
		id = i.id
	}
	if a.link.err != nil {
		id = ""
	}
	a.session.watcher.Refresh(id)
	return nil
}

// sampleTimeout bounds sending one sample mail.
const sampleTimeout = 10 * time.Second

// sentMsg is the outcome of sending a sample mail.
type sentMsg struct {
	name string
	err  error
}

func (a *app) sendSample() tea.Cmd {
	i, addr, n := a.inbox(), a.session.conn.SMTPAddr, a.samples
	a.samples++
	ctx, to := a.ctx, i.email
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
		defer cancel()
		name, err := sample.Send(ctx, addr, to, n)
		return sentMsg{name, err}
	}
}

func (m sentMsg) apply(a *app) tea.Cmd {
	if m.err != nil {
		return a.fail(m.err)
	}
	return a.say(note, "sent “"+m.name+"” by SMTP")
}
