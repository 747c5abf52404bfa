package host

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/mail"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/dialog"
)

// maxFields bounds the header fields that are listed.
const maxFields = 200

// first are the header fields listed before the others, in this order.
var first = []string{"from", "to", "subject", "message-id", "date", "reply-to", "cc", "list-unsubscribe"}

// CopyMenu returns the menu of what can be copied from a message in the inbox with an address. What is chosen
// goes to copyText, with what names it on the screen.
func CopyMenu(m *message.Message, address string, copyText func(text, what string) tea.Cmd) dialog.Dialog {
	l := list{}
	for _, c := range m.Mail().Codes() {
		l.add("Code "+c.Value, "", c.Value, c.Value)
	}
	for _, link := range m.Links() {
		l.add("Link "+link.Text, leadsTo(link.URL), link.URL, "the link")
	}
	l.add("Address of the inbox "+address, "", address, address)
	l.add("Address of the sender "+m.From.Addr, "", m.From.Addr, m.From.Addr)
	for _, f := range header(m) {
		l.add(f.Name+": "+f.Value, "header", f.Value, f.Name)
	}
	l.add("Text of the message", "", m.PlainText(), "the text")
	l.add("HTML source", "", m.HTML, "the HTML source")
	l.add("ID of the message "+m.ID, "", m.ID, m.ID)
	return dialog.NewMenu(dialog.Menu{Title: "Copy", Choices: l.choices, Then: func(id string) tea.Cmd {
		n, err := strconv.Atoi(id)
		if err != nil {
			return nil
		}
		return copyText(l.copies[n].text, l.copies[n].what)
	}})
}

// list is the rows of the menu, and what each copies.
type list struct {
	choices []dialog.Choice
	copies  []struct{ text, what string }
}

// add adds a row that copies text, named what on the screen, unless there is none.
func (l *list) add(title, aside, text, what string) {
	if text == "" {
		return
	}
	l.choices = append(l.choices, dialog.Choice{ID: strconv.Itoa(len(l.copies)), Title: render.Clean(title), Aside: render.Clean(aside)})
	l.copies = append(l.copies, struct{ text, what string }{text, render.Clean(what)})
}

// header returns the header fields, those that matter most first. Without the raw message it has
// those that the service names.
func header(m *message.Message) []mail.Field {
	fields := slices.Clone(m.Fields[:min(len(m.Fields), maxFields)])
	if len(fields) == 0 {
		fields = []mail.Field{{Name: "To", Value: m.Recipients()}, {Name: "Subject", Value: m.Subject}}
	}
	rank := func(f mail.Field) int {
		if n := slices.Index(first, strings.ToLower(f.Name)); n >= 0 {
			return n
		}
		return len(first)
	}
	slices.SortStableFunc(fields, func(a, b mail.Field) int { return rank(a) - rank(b) })
	return fields
}

// leadsTo is what a link leads to: its host, or its scheme without one.
func leadsTo(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	if u.Hostname() == "" {
		return u.Scheme
	}
	return u.Hostname()
}
