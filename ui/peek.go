package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"mayfly/letter"
	"mayfly/render"
)

// mostPeeks is how many messages are looked into at the same time, and peekBytes how large they are together: a larger
// one is looked into alone.
const (
	mostPeeks = 2
	peekBytes = 512 << 10
)

// peekedMsg is the outcome of looking into a message.
type peekedMsg struct {
	session *session
	key     string
	peek    *peek // nil when it could not be fetched
	opened  *opened
}

// peek looks into the messages on the screen whose inside is not known, so that their rows show the code
// or the link. It gives way to everything the user asks for.
func (a *app) peek() tea.Cmd {
	if a.session == nil {
		return nil
	}
	var cmds []tea.Cmd
	for _, row := range a.messages.rows {
		m := a.book.messages[row.ID]
		if m == nil || m.peek != nil || a.peeks[m.key] {
			continue
		}
		if !a.mayPeek(m) {
			break
		}
		cmds = append(cmds, a.lookInto(m))
	}
	return tea.Batch(cmds...)
}

// mayPeek says whether there is room to look into a message beside those that are being looked into.
func (a *app) mayPeek(m *message) bool {
	size := m.size
	for key := range a.peeking {
		if on := a.book.messages[key]; on != nil {
			size += on.size
		}
	}
	return len(a.peeking) == 0 || len(a.peeking) < mostPeeks && size <= peekBytes
}

func (a *app) lookInto(m *message) tea.Cmd {
	a.peeks[m.key], a.peeking[m.key] = true, true
	s, key, inboxID, id := a.session, m.key, m.inboxID, m.id
	return s.do(func(ctx context.Context) tea.Msg {
		msg, err := s.conn.Client.Background().Message(ctx, inboxID, id)
		if err != nil {
			return peekedMsg{session: s, key: key}
		}
		o := openMail(letter.Letter{Message: msg})
		return peekedMsg{session: s, key: key, opened: o, peek: look(o.mail)}
	})
}

func (m peekedMsg) apply(a *app) tea.Cmd {
	delete(a.peeking, m.key)
	if m.session != a.session || m.peek == nil {
		return nil // tried again when the list is heard of next
	}
	if a.mails.get(m.key) == nil {
		a.mails.put(m.key, m.opened)
	}
	a.looked(m.key, m.peek)
	return m.opened.giveBack()
}

// looked puts what was found into the row.
func (a *app) looked(key string, p *peek) {
	if m := a.book.messages[key]; m != nil {
		m.peek = p
	}
}

// look finds the code and the link that a row shows.
func look(m *render.Mail) *peek {
	p := &peek{}
	if c, ok := m.Code(); ok {
		p.code = render.Clean(c.Value)
	}
	if l, ok := m.Confirm(); ok {
		p.linkText, p.linkURL = oneLine(render.Clean(l.Text)), l.URL
		for _, x := range m.Links() {
			if x.URL == l.URL {
				p.linkVia, p.linkWarning = x.Via, x.Warning
				break
			}
		}
	}
	return p
}
