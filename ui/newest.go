package ui

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/host"
	"mayfly/ui/intent"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// maxSought is how many of the newest messages are looked through for a code or a link.
const maxSought = 20

// thing is what is sought in messages; of returns it, "" if there is none.
type thing struct {
	name string
	of   func(f *store.Findings) string
}

var (
	code = thing{"code", func(f *store.Findings) string { return f.Code }}
	link = thing{"confirmation link", func(f *store.Findings) string { return f.Link.URL }}
)

// wanted is something that was asked for while a message that may have it was still being read.
type wanted struct {
	thing
	from []*store.Message // the messages that may have it, the first of them being read
	err  error            // why that one could not be read
}

// subject is the message that the user went to: open with focus, or selected by moving in the list.
// It is nil if he went to none.
func (w *Workspace) subject() *store.Message {
	var m *store.Message
	switch {
	case w.Focus == theme.Reader:
		m = w.Reader.Message
	case w.Focus == theme.Messages && w.Messages.Placed():
		m = w.Messages.Message()
	}
	if m != nil {
		return cmp.Or(w.Store.Messages[m.Key], m) // the reader has a copy
	}
	return nil
}

// candidates are the messages in which something is sought: the one that the user went to, otherwise
// the newest of those listed.
func (w *Workspace) candidates() []*store.Message {
	if m := w.subject(); m != nil {
		return []*store.Message{m}
	}
	keys := w.Messages.IDs()
	if w.Focus == theme.Inboxes { // a filter of the list does not matter
		keys = w.Store.Keys(w.Messages.InboxID)
	}
	var from []*store.Message
	for _, key := range keys[:min(len(keys), maxSought)] {
		if m := w.Store.Messages[key]; m != nil {
			from = append(from, m)
		}
	}
	return from
}

// seek returns the messages from the first that has a thing, or that has not been read yet.
func seek(t thing, from []*store.Message) []*store.Message {
	n := slices.IndexFunc(from, func(m *store.Message) bool { return m.Findings == nil || t.of(m.Findings) != "" })
	if n < 0 {
		return nil
	}
	return from[n:]
}

// NeedCode is the reason when there is no code to copy.
func (w *Workspace) NeedCode() string { return w.need(code, "No code was found in this message") }

// NeedLink is the reason when there is no link to open; labels is the key that labels every link.
func (w *Workspace) NeedLink(labels string) string {
	return w.need(link, "No confirmation link was found: "+labels+" labels every link")
}

func (w *Workspace) need(t thing, none string) string {
	switch {
	case len(seek(t, w.candidates())) > 0:
		return ""
	case w.subject() != nil:
		return none
	case w.Messages.Len() == 0:
		return "There are no messages yet"
	case w.Messages.Len() > maxSought:
		return fmt.Sprintf("None of the newest %d messages has a %s", maxSought, t.name)
	}
	return "No message here has a " + t.name
}

// CopyCode copies the code of the message that the user went to, otherwise the newest code. If a
// message that may have it is still being read, the code is copied when that is done.
func (w *Workspace) CopyCode() any { return w.take(code) }

// OpenLink opens the confirmation link of the message that the user went to, otherwise the newest one.
func (w *Workspace) OpenLink() any { return w.take(link) }

func (w *Workspace) take(t thing) any {
	w.wanted = wanted{thing: t, from: w.candidates()}
	w.Store.RetryPrefetches()
	if did := w.settleWanted(false); did != nil {
		return did
	}
	return intent.Note{Text: "Reading the message from " + w.wanted.from[0].Sender + "…"}
}

// settleWanted delivers what is wanted once it has been found; nil while it has not. No question opens
// while the user is busy: the letters being typed would answer it.
func (w *Workspace) settleWanted(busy bool) []any {
	t := w.wanted
	if t.from == nil {
		return nil
	}
	from := seek(t.thing, slices.DeleteFunc(t.from, func(m *store.Message) bool {
		return m.Findings == nil && w.Store.Messages[m.Key] == nil // gone before it was read
	}))
	waits := len(from) > 0 && from[0].Findings == nil
	if waits && t.err == nil {
		w.wanted.from = from
		return nil
	}
	w.wanted = wanted{}
	switch {
	case waits:
		err := fmt.Errorf("read the message from %s: %w", from[0].Sender, t.err)
		return []any{tea.Cmd(func() tea.Msg { return host.Done{Err: err} })}
	case len(from) == 0:
		return []any{intent.Note{Text: "No " + t.name + " was found"}}
	}
	m := from[0]
	switch {
	case t.name == link.name && busy:
		return []any{intent.Note{Text: "Not shown, since you have gone on: try again"}}
	case t.name == link.name:
		return w.openLink(m)
	}
	return []any{intent.Copy{Text: m.Findings.Code, What: m.Findings.Code + w.origin(m) + w.overtaken(code, m)}}
}

// openLink asks before the link of a message is opened, and says which message that is.
func (w *Workspace) openLink(m *store.Message) []any {
	did := []any{intent.AskOpen{Link: m.Findings.Link}}
	if text := w.origin(m) + w.overtaken(link, m); text != "" {
		did = append(did, intent.Note{Text: "The link" + text})
	}
	return did
}

// origin says where something was found, unless that is the selected message.
func (w *Workspace) origin(m *store.Message) string {
	if shown := w.Message(); w.Focus != theme.Inboxes && shown != nil && shown.Key == m.Key {
		return ""
	}
	text := " from " + m.Sender
	if age, _ := theme.Age(time.Since(m.Received)); age != "now" {
		text += ", " + age + " ago"
	}
	return text
}

// overtaken says that the inbox of a message has got a newer thing, or newer mail that may have it.
func (w *Workspace) overtaken(t thing, m *store.Message) string {
	keys := w.Store.Keys(m.InboxID)
	for _, key := range keys[:min(len(keys), maxSought)] {
		switch newer := w.Store.Messages[key]; {
		case key == m.Key:
			return ""
		case newer.Findings == nil:
			return "; newer mail came"
		case t.of(newer.Findings) == "" || t.of(newer.Findings) == t.of(m.Findings):
		case t.name == code.name:
			return "; a newer code came: " + newer.Findings.Code
		default:
			return "; a newer one came"
		}
	}
	return ""
}

// CopyAddress copies the address of an inbox. The time until mail arrives is measured from now.
func (w *Workspace) CopyAddress(id string, now time.Time) any {
	i := w.Store.Inboxes[id]
	i.CopiedAt, w.wanted = now, wanted{}
	return intent.Copy{Text: i.Email, What: i.Email}
}

// ToggleAutocopy turns autocopy on or off: copying each new code as it arrives.
func (w *Workspace) ToggleAutocopy() any {
	w.Autocopy, w.fresh = !w.Autocopy, nil
	return intent.Toggled(w.Autocopy, "Autocopy: new codes are copied at once", "No autocopy")
}

// copyWhenRead notes mail whose codes are to be copied.
func (w *Workspace) copyWhenRead(mail []*store.Message) {
	w.fresh = append(slices.Clone(mail), w.fresh...)
	slices.SortStableFunc(w.fresh, func(x, y *store.Message) int { return y.Received.Compare(x.Received) })
	w.fresh = w.fresh[:min(len(w.fresh), maxSought)]
}

// settleFresh copies the newest code that has been found in new mail. An older one that is found
// later does not take its place.
func (w *Workspace) settleFresh() []any {
	for n, m := range w.fresh {
		if m.Findings == nil || m.Findings.Code == "" {
			continue
		}
		what := "the new code " + m.Findings.Code + " from " + m.Sender
		if w.Inboxes.Selected() != m.InboxID {
			what += " for " + w.nameOf(m)
		}
		w.fresh = w.fresh[:n]
		return []any{intent.Copy{Text: m.Findings.Code, What: what}}
	}
	return nil
}

// toRead returns the keys of the messages to read ahead of the user, the most urgent first.
func (w *Workspace) toRead() []string {
	var keys []string
	if len(w.wanted.from) > 0 {
		keys = append(keys, w.wanted.from[0].Key)
	}
	for _, m := range w.fresh {
		keys = append(keys, m.Key)
	}
	return append(keys, w.Messages.Keys()...)
}
