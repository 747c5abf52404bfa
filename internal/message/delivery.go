package message

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mayfly/api"
	"mayfly/internal/mail"
)

// AddDelivery fetches the delivery details of the message. It has to be called before Mail. A service that does not say, for
// whatever reason, keeps nobody from reading the message.
func (m *Message) AddDelivery(ctx context.Context, c *api.Client) {
	m.Delivery = []mail.Field{}
	d, err := c.Delivery(ctx, m.InboxID, m.ID)
	if err != nil || d.Hello == "" {
		return
	}
	connection := d.Client + ", " + cmp.Or(d.TLS, "no TLS") + ", " + d.Hello
	if d.Login != "" {
		connection += ", login " + d.Login
	}
	var to []string
	var refused []mail.Field
	for _, r := range d.Recipients {
		if r.Refused != "" {
			refused = append(refused, mail.Field{Name: "Refused", Value: strings.TrimSuffix(r.Refused+": "+r.Address, ": ")})
		} else {
			to = append(to, r.Address)
		}
	}
	if d.More {
		to = append(to, "…")
	}
	accepted := fmt.Sprintf("%v after connecting", time.Duration(max(d.After, 1))*time.Millisecond)
	if d.Message > 1 {
		accepted += fmt.Sprintf(", message %d of the connection", d.Message)
	}
	m.delivery = &d
	m.Delivery = slices.Concat([]mail.Field{
		{Name: "Connection", Value: connection},
		{Name: "Envelope from", Value: "<" + d.From + "> " + d.Parameters},
		{Name: "Envelope to", Value: strings.Join(to, ", ")},
	}, refused, []mail.Field{
		{Name: "Accepted", Value: accepted},
	})
}
