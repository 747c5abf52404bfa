package message

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"mayfly/api"
	"mayfly/internal/mail"
)

// WithDelivery fetches how the message came, and returns the message with it. A service that does not say, for
// whatever reason, keeps nobody from reading the message.
func (m *Message) WithDelivery(ctx context.Context, c *api.Client) *Message {
	w := &Message{Message: m.Message, InboxID: m.InboxID, ID: m.ID, Rules: m.Rules, object: m.object, Asked: true}
	m.opening.Lock()
	w.before = cmp.Or(m.opened, m.before)
	m.opening.Unlock()
	if d, err := c.Delivery(ctx, m.InboxID, m.ID); err == nil {
		w.delivery, w.Delivery = d.Raw, fields(d)
	}
	return w
}

// fields are a delivery for people. What a sender may choose freely is at the end of a field, where it cannot pass
// for what the service says.
func fields(d api.Delivery) []mail.Field {
	connection := []string{d.Client, cmp.Or(d.TLS, "no TLS"), d.Hello}
	if d.Login != "" {
		connection = append(connection, "login "+d.Login)
	}
	all := []mail.Field{
		{Name: "Connection", Value: strings.Join(connection, ", ")},
		{Name: "Envelope from", Value: cmp.Or(d.From, "<>")},
		{Name: "Envelope to", Value: strings.Join(d.Recipients, ", ") + more(d.MoreRecipients)},
	}
	for _, r := range d.Refused {
		value := r.Reply
		if r.Address != "" {
			value = r.Address + ": " + value
		}
		all = append(all, mail.Field{Name: "Refused", Value: value})
	}
	if d.MoreRefused > 0 {
		all = append(all, mail.Field{Name: "Refused", Value: fmt.Sprint(d.MoreRefused, " more")})
	}
	var announced []string
	if d.Size > 0 {
		announced = append(announced, fmt.Sprint("SIZE=", d.Size))
	}
	if d.Body != "" {
		announced = append(announced, "BODY="+d.Body)
	}
	if d.SMTPUTF8 {
		announced = append(announced, "SMTPUTF8")
	}
	if announced != nil {
		all = append(all, mail.Field{Name: "Announced", Value: strings.Join(announced, " ")})
	}
	accepted := d.ReceivedAt.Sub(d.ConnectedAt).Round(time.Millisecond).String() + " after it connected"
	if d.MessageNumber > 1 {
		accepted += fmt.Sprintf(", as message %d of the connection", d.MessageNumber)
	}
	return append(all, mail.Field{Name: "Accepted", Value: accepted})
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
