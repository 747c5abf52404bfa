package session

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/store"
)

// releaseTimeout bounds sending a message on, which the service does within 90 seconds.
const releaseTimeout = 100 * time.Second

// ReleaseForm asks for the address that a message is sent on to. It begins with the last one.
func (s *Session) ReleaseForm(m *store.Message) dialog.Dialog {
	inboxID, id := m.InboxID, m.ID
	return dialog.NewForm(dialog.Form{
		Title: "Send this message on",
		Fields: []dialog.Field{{Value: s.releasedTo, Placeholder: "qa@example.com", Hint: "an allowed address   esc cancels", Check: func(to string) error {
			if local, domain, _ := strings.Cut(to, "@"); local == "" || domain == "" || strings.ContainsAny(to, " ,;") {
				return errors.New("one address, such as qa@example.com")
			}
			return nil
		}}},
		Then: func(v []string) any {
			s.releasedTo = v[0]
			return s.release(inboxID, id, v[0])
		},
	})
}

func (s *Session) release(inboxID, id, to string) Request {
	shown := render.Clean(to)
	return Request{What: "sending it to " + shown, Start: func() tea.Cmd {
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(s.ctx, releaseTimeout)
			defer cancel()
			err := s.Client.Release(ctx, inboxID, id, []string{to})
			switch {
			case errors.Is(err, api.ErrUnsupported) && s.Local:
				err = errors.New("no relay: set one up under [relay] in config.toml, then mayfly down")
			case errors.Is(err, api.ErrUnsupported):
				err = errors.New("this service has no relay; only its operator can set one up")
			}
			return host.Done{Text: "sent to " + shown, Err: err}
		}
	}}
}
