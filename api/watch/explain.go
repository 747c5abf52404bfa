package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"mayfly/api"
	"mayfly/internal/address"
	"mayfly/internal/clean"
)

// Vain is a wait that ended without what it was for.
type Vain struct {
	Address string        // waited for, unless there was an inbox
	SMTP    string        // where mail for it is accepted; "" if that is unknown
	Took    time.Duration // the wait
	Err     error         // of [Await] or [AwaitInbox]
	Again   string        // how to get what was returned before
}

// Bounds of an explanation.
const (
	explainTime = 2 * time.Second
	beforeWait  = time.Minute // the application may have sent its mail some time before the wait
	shownMails  = 3
)

// Explain returns why a wait timed out, in a clean line: what the service's SMTP server saw instead, and
// what the inbox has instead.
func Explain(ctx context.Context, c *api.Client, v Vain) string {
	if failing := (*FailingError)(nil); errors.As(v.Err, &failing) {
		return "the service was failing: " + clean.Line(failing.Last.Error())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainTime)
	defer cancel()
	now := c.ServiceTime()
	from := now.Add(-v.Took - beforeWait)
	inVain := &NoMatchError{}
	if errors.As(v.Err, &inVain) {
		if in, err := c.Inbox(ctx, inVain.InboxID); err == nil {
			v.Address, from = in.Email, latest(from, in.CreatedAt)
		}
		if !inVain.Since.IsZero() {
			from = latest(from, inVain.Since.Add(-time.Second)) // with the session of what was returned last
		}
	}
	var parts []string
	list, err := c.Sessions(ctx)
	if err == nil {
		if why := v.cause(list, from, now, len(inVain.Others) > 0); why != "" {
			parts = append(parts, why)
		}
	} else if v.SMTP != "" {
		parts = append(parts, "it was expected at SMTP "+v.SMTP)
	}
	if len(inVain.Others) > 0 {
		parts = append(parts, "there is instead "+briefly(inVain.Others))
	}
	if len(inVain.Consumed) > 0 {
		parts = append(parts, "returned before was "+briefly(inVain.Consumed)+" ("+v.Again+")")
	}
	if len(inVain.Others)+len(inVain.Consumed) == 0 && err != nil {
		parts = append(parts, "no other mail is there")
	}
	return strings.Join(parts, "; ")
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// cause returns the first of the causes that is true of the sessions since a time, or "". Came says that the inbox has mail,
// but not what was awaited.
func (v Vain) cause(list api.SessionList, from, now time.Time, came bool) string {
	var silent *api.Session // the newest that delivered nothing, one with a message before one without
	var went []string       // recipients of what was delivered, without what was returned
	connected := false
	for _, s := range list.Sessions {
		messages := slices.DeleteFunc(slices.Clone(s.Messages), func(m api.SessionMessage) bool { return m.Begun.Before(from) })
		if len(messages) == 0 && (len(s.Messages) > 0 || s.Connected.Before(from)) {
			continue
		}
		delivered := false
		connected = true
		for _, m := range messages {
			for _, to := range m.Recipients {
				if !strings.HasPrefix(m.Reply, "2") || to.Refused != "" {
					continue
				}
				if delivered = true; came || !v.is(to.Address) {
					went = append(went, clean.Line(to.Address))
				}
			}
		}
		if s.Messages = messages; !delivered && (silent == nil || len(silent.Messages) == 0 && len(messages) > 0) {
			silent = &s
		}
	}
	switch {
	case !connected && list.AllKeys:
		return strings.TrimSpace("nothing has connected to SMTP "+v.SMTP) + elsewhere(list) + since(from, now)
	case !connected:
		return strings.TrimSpace("no session at SMTP "+v.SMTP) + " has named an address of yours" + elsewhere(list) + since(from, now)
	case went == nil && silent != nil:
		return v.unsent(*silent)
	}
	own, ownDomain, _ := strings.Cut(v.Address, "@")
	for _, to := range went {
		switch local, domain, _ := strings.Cut(to, "@"); {
		case domain == ownDomain && strings.HasPrefix(local, own+"+"):
		case address.Near(to, v.Address):
			return fmt.Sprintf("mail went to %s, which is nearly %s", to, v.Address)
		case local == own && domain != ownDomain:
			return fmt.Sprintf("mail went to %s, at another domain than %s", to, v.Address)
		}
	}
	others := slices.DeleteFunc(went, func(to string) bool { return v.is(to) })
	if came || len(others) == 0 {
		return ""
	}
	slices.Sort(others)
	others = slices.Compact(others)
	text := "mail arrived at another inbox: " + strings.Join(others[:min(shownMails, len(others))], ", ")
	if more := len(others) - shownMails; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// is reports whether mail to an address goes to the inbox.
func (v Vain) is(to string) bool {
	local, domain, _ := strings.Cut(to, "@")
	local, _, _ = strings.Cut(local, "+")
	return to == v.Address || local+"@"+domain == v.Address
}

func elsewhere(list api.SessionList) string {
	if list.AllProcesses {
		return ""
	}
	return " by this process of the service"
}

func since(from, now time.Time) string {
	return fmt.Sprintf(" in the last %d s", max(1, int(now.Sub(from).Seconds())))
}

// unsent says where a session got stuck.
func (v Vain) unsent(s api.Session) string {
	text := "a client connected from " + s.Client
	if s.Hello != "" {
		text += " (" + clean.Line(s.Hello) + ")"
	}
	text += ", but delivered no message"
	if n := len(s.Messages); n > 0 {
		m := s.Messages[n-1]
		for _, to := range m.Recipients {
			if to.Refused == "" {
				continue
			}
			text += fmt.Sprintf(": %s was answered %q", strings.TrimSpace("RCPT "+clean.Line(to.Address)), to.Refused)
			if address.Near(to.Address, v.Address) {
				text += ", which is nearly " + v.Address
			}
			return text
		}
		if m.Reply != "" {
			return text + fmt.Sprintf(": its data was answered %q", m.Reply)
		}
	}
	if s.Command != "" {
		text += fmt.Sprintf(": its last command was %s, answered %q", clean.Line(s.Command), s.Reply)
	}
	switch {
	case s.End != "":
		text += "; it ended with: " + clean.Line(s.End)
	case s.Ended == nil:
		text += "; it is still open"
	}
	return text
}

// briefly names the first of some messages by their subjects and senders, and says how many more there are.
func briefly(list []api.Summary) string {
	var names []string
	for _, s := range list[:min(shownMails, len(list))] {
		from := clean.Line(s.From)
		if s.FromName != "" {
			from = clean.Line(s.FromName) + " <" + from + ">"
		}
		subject := []rune(clean.Line(s.Subject))
		if len(subject) > 60 {
			subject = append(subject[:60], '…')
		}
		names = append(names, fmt.Sprintf(`"%s" from %s`, string(subject), from))
	}
	if more := len(list) - shownMails; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// maxLate is how late a message may arrive that a wait was for.
const maxLate = 10 * time.Second

// Late says by how much a message missed the wait that timed out at a time, and where the time went, or "".
func Late(ctx context.Context, c *api.Client, inboxID string, m api.Summary, ended time.Time) string {
	late := m.ReceivedAt.Sub(ended)
	if ended.IsZero() || late < 0 || late > maxLate {
		return ""
	}
	text := fmt.Sprintf("%q arrived %s after the wait had timed out", m.Subject, seconds(late))
	d, err := c.Delivery(ctx, inboxID, m.ID)
	if err != nil || d.Hello == "" {
		return text
	}
	session := time.Duration(d.After) * time.Millisecond
	if raw, err := c.Raw(ctx, inboxID, m.ID); err == nil {
		connected := m.ReceivedAt.Add(-session)
		parsed, err := mail.ReadMessage(bytes.NewReader(raw))
		if err == nil {
			if date, err := parsed.Header.Date(); err == nil && !date.After(connected) {
				return text + fmt.Sprintf(": %s from its Date until the application connected, %s from then until it was accepted",
					seconds(connected.Sub(date)), seconds(session))
			}
		}
	}
	return text + fmt.Sprintf(": it was accepted %s after the application had connected", seconds(session))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
