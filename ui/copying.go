package ui

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/mail"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// copying copies: the code (c), the address (y), each new code as it arrives (C), anything else of a message (Y).
// It also opens the confirmation link (o), which is looked for as the code is.
type copying struct {
	*common
	links   links
	reading *reading

	auto    bool             // each new code is copied as it arrives
	arrived []*store.Message // those whose code is to be copied once they are read, newest first
	pending pendingCopy
}

// pendingCopy is what c or o asked for while a message that may have it was still being read.
type pendingCopy struct {
	finding *extract         // nil for nothing
	from    []*store.Message // those that may have it, the first of them being read
	err     error            // why that one could not be read
}

// extract is what c and o look for in messages; of returns it, "" if there is none.
type extract struct {
	name string
	of   func(f *store.Extracted) string
}

var (
	code = &extract{"code", func(f *store.Extracted) string { return f.Code }}
	link = &extract{"confirmation link", func(f *store.Extracted) string { return f.Link.URL }}
)

// maxFields bounds the header fields that are listed to be copied.
const maxFields = 200

// firstFields are the header fields listed before the others, in this order.
var firstFields = []string{"from", "to", "subject", "message-id", "date", "reply-to", "cc", "list-unsubscribe"}

// maxSought is how many of the newest messages are looked through for a code or a link.
const maxSought = 20

func (c *copying) actions() []*action {
	return []*action{
		withItem(action{ID: "copy-address", Title: "Copy the address", Hint: "copy address", Keys: []string{"y"}, Where: anywhere}, c.theLiveInbox, c.copyAddress),
		{ID: "copy-code", Title: "Copy the code", Hint: "code", Keys: []string{"c"}, Where: anywhere,
			DisabledReason: func() string { return c.require(code, "No code was found in this message") },
			Run:            func() tea.Cmd { return c.copyOrOpen(code) }},
		{ID: "open-link", Title: "Open the confirmation link", Hint: "open link", Keys: []string{"o"}, Where: anywhere,
			DisabledReason: func() string {
				return c.require(link, "No confirmation link was found: "+c.table.keyFor("link-hints")+" labels every link")
			},
			Run: func() tea.Cmd { return c.copyOrOpen(link) }},
		{ID: "autocopy", Title: "Autocopy: copy new codes as they arrive", Keys: []string{"C"}, Where: anywhere, Run: c.toggleAuto},
		withItem(action{ID: "copy-menu", Title: "Copy… (test, link, header, text)", Keys: []string{"Y"}, Where: anywhere}, c.theMessage,
			func(from *store.Message) tea.Cmd {
				return c.reading.readMessage(from, func(m *message.Message, address string) func() tea.Cmd { return c.menu(from, m, address) })
			}),
	}
}

// require is the reason when there is nothing to take; none is the reason if the user chose a message.
func (c *copying) require(f *extract, none string) (disabledReason string) {
	n := c.messages.Len()
	switch {
	case len(f.seek(c.candidates())) > 0:
		return ""
	case c.chosenMessage() != nil:
		return none
	case n == 0:
		return "There are no messages yet"
	case n > maxSought:
		return fmt.Sprintf("None of the newest %d messages has a %s", maxSought, f.name)
	}
	return "No message here has a " + f.name
}

// candidates are the messages to look in: the one that the user went to, or the newest of those listed.
func (c *copying) candidates() []*store.Message {
	if m := c.chosenMessage(); m != nil {
		return []*store.Message{m}
	}
	keys := c.messages.IDs()
	var from []*store.Message
	for _, key := range keys[:min(len(keys), maxSought)] {
		if m := c.store.Messages[key]; m != nil {
			from = append(from, m)
		}
	}
	return from
}

// seek returns the messages from the first that has a finding, or that has not been read yet.
func (f *extract) seek(from []*store.Message) []*store.Message {
	n := slices.IndexFunc(from, func(m *store.Message) bool { return m.Extracted == nil || f.of(m.Extracted) != "" })
	if n < 0 {
		return nil
	}
	return from[n:]
}

// copyOrOpen copies the code, or asks to open the link, of the message that the user went to, otherwise the newest
// one. If a message that may have it is still being read, it does so when that is done.
func (c *copying) copyOrOpen(f *extract) tea.Cmd {
	c.pending = pendingCopy{finding: f, from: c.candidates()}
	c.store.RetryPrefetches()
	cmd, delivered := c.runPending(false)
	if !delivered {
		c.note("Reading the message from " + c.pending.from[0].Sender + "…")
	}
	return cmd
}

// runPending delivers what is pending once it has been found; false while it has not. No question opens while the
// user is busy: the letters being typed would answer it.
func (c *copying) runPending(busy bool) (cmd tea.Cmd, delivered bool) {
	p := c.pending
	if p.finding == nil {
		return nil, false
	}
	from := p.finding.seek(slices.DeleteFunc(p.from, func(m *store.Message) bool {
		return m.Extracted == nil && c.store.Messages[m.Key] == nil // gone before it was read
	}))
	unread := len(from) > 0 && from[0].Extracted == nil
	if unread && p.err == nil {
		c.pending.from = from
		return nil, false
	}
	c.pending = pendingCopy{}
	switch {
	case unread:
		c.report(host.Result{Err: fmt.Errorf("read the message from %s: %w", from[0].Sender, p.err)})
	case len(from) == 0:
		c.note("No " + p.finding.name + " was found")
	case p.finding == code:
		m := from[0]
		return c.copy(m.Extracted.Code, m.Extracted.Code+c.origin(m)+c.newerNote(code, m)), true
	case busy:
		c.note(goneOn)
	default:
		m := from[0]
		if text := c.origin(m) + c.newerNote(link, m); text != "" {
			c.note("The link" + text)
		}
		return c.links.ask(m.Extracted.Link), true
	}
	return nil, true
}

// origin says where something was found, unless that is the selected message.
func (c *copying) origin(m *store.Message) string {
	if m == c.message() && c.focus != theme.Inboxes {
		return ""
	}
	text := " from " + m.Sender
	if age := theme.Age(c.serviceNow().Sub(m.Received)); age != "now" {
		text += ", " + age + " ago"
	}
	return text
}

// newerNote says that the inbox of a message has got a newer finding, or newer mail that may have one.
func (c *copying) newerNote(f *extract, m *store.Message) string {
	keys := c.store.Keys(m.InboxID)
	for _, key := range keys[:min(len(keys), maxSought)] {
		switch newer := c.store.Messages[key]; {
		case key == m.Key:
			return ""
		case newer.Extracted == nil:
			return "; newer mail has arrived"
		case f.of(newer.Extracted) == "" || f.of(newer.Extracted) == f.of(m.Extracted):
		case f == code:
			return "; a newer code arrived: " + newer.Extracted.Code
		default:
			return "; a newer one arrived"
		}
	}
	return ""
}

// copyAddress copies the address of an inbox. The time until mail arrives is measured from now.
func (c *copying) copyAddress(i *store.Inbox) tea.Cmd {
	c.session().Watcher.Touch(i.ID)
	i.CopiedAt, c.pending = c.now, pendingCopy{}
	return c.copy(i.Email, i.Email)
}

// menu is the menu of what can be copied from a message in the inbox with an address.
func (c *copying) menu(from *store.Message, m *message.Message, address string) func() tea.Cmd {
	menu := dialog.Menu{Title: "Copy"}
	// addText adds a row that copies text, named what on the screen, unless there is none.
	addText := func(title, aside, text, what string) {
		if text != "" {
			menu.Choices = append(menu.Choices, dialog.Choice{Title: render.Clean(title), Aside: render.Clean(aside), Do: func() tea.Cmd {
				return c.copy(text, render.Clean(what))
			}})
		}
	}
	// A value is one line: a newline in it would run it where a shell has the focus.
	add := func(title, aside, value, what string) { addText(title, aside, render.CleanName(value), what) }
	for _, code := range m.Mail().Codes() {
		add("Code "+code.Value, "", code.Value, code.Value)
	}
	found := store.Find(m)
	menu.Choices = append(menu.Choices, dialog.Choice{Title: "Test that waits for it (shell, Playwright, pytest)", Also: synonyms["copy-menu"], Do: func() tea.Cmd {
		return c.showTests(from, found, address)
	}})
	for _, link := range m.Links() {
		add("Link "+link.Text, linkHost(link.URL), link.URL, "the link")
	}
	add("Address of the inbox "+address, "", address, address)
	add("Address of the sender "+m.From.Addr, "", m.From.Addr, m.From.Addr)
	for _, f := range headerFields(m) {
		add(f.Name+": "+f.Value, "header", f.Value, f.Name)
	}
	addText("Text of the message", "", m.PlainText(), "the text")
	addText("HTML source", "", m.HTML, "the HTML source")
	add("ID of the message "+m.ID, "", m.ID, m.ID)
	d := dialog.NewMenu(menu)
	return func() tea.Cmd { return c.show(d) }
}

// headerFields returns the header fields that matter most first. Without the raw message they are few.
func headerFields(m *message.Message) []mail.Field {
	fields := slices.Clone(m.Fields[:min(len(m.Fields), maxFields)])
	if len(fields) == 0 {
		fields = []mail.Field{{Name: "To", Value: m.Recipients()}, {Name: "Subject", Value: m.Subject}}
	}
	rank := func(f mail.Field) int {
		if n := slices.Index(firstFields, strings.ToLower(f.Name)); n >= 0 {
			return n
		}
		return len(firstFields)
	}
	slices.SortStableFunc(fields, func(a, b mail.Field) int { return rank(a) - rank(b) })
	return fields
}

// linkHost returns the host of a link, or its scheme without one.
func linkHost(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return cmp.Or(u.Hostname(), u.Scheme)
}

func (c *copying) toggleAuto() tea.Cmd {
	c.auto, c.arrived = !c.auto, nil
	c.noteEither(c.auto, "Autocopy: new codes are copied at once", "No autocopy")
	return nil
}

// onArrived notes mail whose codes are to be copied.
func (c *copying) onArrived(mail []*store.Message) {
	if !c.auto {
		return
	}
	c.arrived = append(slices.Clone(mail), c.arrived...)
	slices.SortStableFunc(c.arrived, func(x, y *store.Message) int { return y.Received.Compare(x.Received) })
	c.arrived = c.arrived[:min(len(c.arrived), maxSought)]
}

// copyArrived copies the newest code found in new mail. An older one that arrives later does not replace it.
func (c *copying) copyArrived() tea.Cmd {
	for n, m := range c.arrived {
		if m.Extracted == nil || m.Extracted.Code == "" {
			continue
		}
		what := "the new code " + m.Extracted.Code + " from " + m.Sender
		if c.inboxes.Selected() != m.InboxID {
			what += " for " + c.nameOf(m)
		}
		c.arrived = c.arrived[:n]
		return c.copy(m.Extracted.Code, what)
	}
	return nil
}

// onRead hears that a message was read, or why it could not be.
func (c *copying) onRead(key string, err error) {
	if len(c.pending.from) > 0 && c.pending.from[0].Key == key {
		c.pending.err = err
	}
}

// toRead are the messages that it waits for: what c or o asked for, and those that have arrived.
func (c *copying) toRead() (pending, arrived []*store.Message) {
	return c.pending.from[:min(1, len(c.pending.from))], c.arrived
}

// forget forgets what it waits for: it belongs to another service.
func (c *copying) forget() { c.pending, c.arrived = pendingCopy{}, nil }
