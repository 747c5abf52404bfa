package mayflytest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize/english"

	"mayfly/api/watch"
	"mayfly/internal/message"
	"mayfly/render"
)

// Bounds of what a failure shows.
const (
	shownMails     = 5
	shownAddresses = 10
	shownLines     = 3  // of a mail's text
	shownWidth     = 76 // columns of these
)

// missing says what did not come, and what did.
func (in *Inbox) missing(t testing.TB, target watch.Target, timeout time.Duration) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), beforeDeadline)
	defer cancel()
	what := "no mail"
	if target != watch.Message {
		what += " with a " + string(target)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s came to %s within %s", what, in.Email, timeout.Round(10*time.Millisecond))
	if err := in.describe(ctx, &text); err != nil {
		fmt.Fprintf(&text, "; what did come cannot be read: %v", err)
	}
	return text.String()
}

func (in *Inbox) describe(ctx context.Context, text *strings.Builder) error {
	list, err := in.service.client.Messages(ctx, in.id)
	if err != nil {
		return err
	}
	if n := len(list.Messages); n > 0 {
		fmt.Fprintf(text, "; %s came:", english.Plural(n, "mail", ""))
		for _, summary := range list.Messages[:min(n, shownMails)] {
			object, err := in.service.client.Message(ctx, in.id, summary.ID)
			if err != nil {
				return err
			}
			in.describeMail(text, message.New(in.id, object))
		}
		if n > shownMails {
			fmt.Fprintf(text, "\n  and %d before", n-shownMails)
		}
	}
	return in.describeOthers(ctx, text, len(list.Messages) > 0)
}

// describeMail writes what a mail is and what was returned of it.
func (in *Inbox) describeMail(text *strings.Builder, m *message.Message) {
	from := m.From.Addr
	if m.From.Name != "" {
		from = m.From.Name + " <" + from + ">"
	}
	fmt.Fprintf(text, "\n  %s\n    from %s, %s ago%s", render.Clean(m.Subject), render.Clean(from),
		time.Since(m.ReceivedAt).Round(10*time.Millisecond), in.noted(watch.Message, m.ID))
	if code, ok := m.Mail().Code(); ok {
		fmt.Fprintf(text, "\n    code %s%s", render.Clean(code.Value), in.noted(watch.Code, m.ID))
	}
	if link, ok := m.Mail().Confirm(); ok {
		fmt.Fprintf(text, "\n    link %s%s", render.Clean(link.URL), in.noted(watch.Link, m.ID))
	}
	shown := 0
	for line := range strings.Lines(m.Plain(render.Options{Width: shownWidth})) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if shown++; shown > shownLines {
			text.WriteString("\n    | …")
			return
		}
		text.WriteString("\n    | " + line)
	}
}

func (in *Inbox) noted(target watch.Target, id string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.delivered.Has(target, id) {
		return " (was returned before)"
	}
	return ""
}

// describeOthers names the other addresses that mail came to: the application may have mailed the wrong
// one.
func (in *Inbox) describeOthers(ctx context.Context, text *strings.Builder, came bool) error {
	inboxes, err := in.service.client.Inboxes(ctx)
	if err != nil {
		return err
	}
	var others []string
	for _, other := range inboxes.Inboxes {
		if n := other.MessageCount; n != nil && *n > 0 && other.ID != in.id {
			others = append(others, fmt.Sprintf("%s (%d)", render.Clean(other.Email), *n))
		}
	}
	switch n := len(others); {
	case n > shownAddresses:
		others = append(others[:shownAddresses], fmt.Sprintf("%d more", n-shownAddresses))
		fallthrough
	case n > 0:
		fmt.Fprintf(text, "\nmail came to other addresses: %s", strings.Join(others, ", "))
	case !came:
		fmt.Fprintf(text, ", nor any mail to any address: does the application send its mail to %s?", in.service.SMTPAddr)
	}
	return nil
}
