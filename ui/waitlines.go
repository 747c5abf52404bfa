package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/store"
)

// showTests lets the user choose the line to copy.
func (c *copying) showTests(lines [][2]string) tea.Cmd {
	menu := dialog.Menu{Title: "Copy a test"}
	menu.Then = func(runner string) tea.Cmd {
		n := slices.IndexFunc(lines, func(l [2]string) bool { return l[0] == runner })
		return c.copy(lines[n][1], "the line for "+runner)
	}
	for _, l := range lines {
		menu.Choices = append(menu.Choices, dialog.Choice{ID: l[0], Title: l[0] + ": " + render.Clean(l[1])})
	}
	return c.show(dialog.NewMenu(menu))
}

// beside are the other messages in the inbox of a message.
func (c *copying) beside(m *store.Message) (others []*store.Message) {
	for _, key := range c.store.Keys(m.InboxID) {
		if o := c.store.Messages[key]; o != nil && key != m.Key {
			others = append(others, o)
		}
	}
	return others
}

// waitFor returns the lines of tests, each after the name of what runs it, that wait for a message like m in the inbox with an address. They have the filters that tell it from
// the others there. The kits give each test an inbox of its own.
func waitFor(m api.Summary, found *store.Findings, address string, others []*store.Message) [][2]string {
	name, method := "message", "Message"
	has := func(*store.Findings) bool { return true }
	switch {
	case found.Code != "":
		name, method, has = "code", "Code", func(f *store.Findings) bool { return f.Code != "" }
	case found.Link.URL != "":
		name, method, has = "link", "Link", func(f *store.Findings) bool { return f.Link.URL != "" }
	}
	with := filters(m, found.Code, others, has)

	shell := "mayfly wait"
	if !strings.HasPrefix(address, "-") {
		shell += " " + shellQuote(address)
	}
	var options, conditions []string
	for _, f := range [...]struct{ name, attribute, text string }{{"subject", "subject", with.Subject}, {"from", "sender", with.From}} {
		if f.text != "" {
			shell += " --" + f.name + " " + shellQuote(f.text)
			options = append(options, f.name+": '"+escaped(f.text, "'")+"'")
			conditions = append(conditions, `"`+escaped(f.text, `"`)+`" in m.`+f.attribute)
		}
	}
	value := "m"
	if name != "message" {
		shell, value = shell+" --"+name, "m."+name
	}
	if strings.HasPrefix(address, "-") {
		shell += " -- " + shellQuote(address)
	}
	if name != "message" {
		shell = strings.ToUpper(name) + "=$(" + shell + ")"
	}
	playwright := "const " + name + " = await inbox.waitFor" + method + "();"
	pytest := name + " = inbox.wait_for_" + name + "()"
	if options != nil {
		playwright = strings.Replace(playwright, "()", "({ "+strings.Join(options, ", ")+" })", 1)
		// Its waits take no filters: each returns the next message.
		pytest = fmt.Sprintf("%s = next(%s for m in iter(inbox.wait_for_message, None) if %s)", name, value, strings.Join(conditions, " and "))
	}
	return [][2]string{{"shell", shell}, {"Playwright", playwright}, {"pytest", pytest}}
}

// filters are the subject and the sender of a message, as far as they tell it from others that have what is waited for.
func filters(m api.Summary, code string, others []*store.Message, has func(*store.Findings) bool) (with watch.Match) {
	left := 0
	count := func(w watch.Match) (n int) {
		for _, o := range others {
			if (o.Findings == nil || has(o.Findings)) && w.Matches(o.Summary) {
				n++
			}
		}
		return n
	}
	left = count(with)
	for _, w := range []watch.Match{{Subject: lasting(m.Subject, code)}, {From: lasting(m.From, "")}} {
		w.Subject += with.Subject
		if n := count(w); n < left {
			with, left = w, n
		}
	}
	return with
}

// maxFilter bounds the characters of a filter.
const maxFilter = 60

// passing is what differs from message to message, as numbers do, and what cannot be typed.
var passing = regexp.MustCompile(`\S*\pN\S*|[\pC\p{Zl}\p{Zp}\x{a0}\x{fffd}]+`)

// lasting returns the longest part of a text that the next message of its kind has too, "" if there is none.
func lasting(text, code string) (longest string) {
	if code != "" {
		text = strings.ReplaceAll(text, code, "0")
	}
	for _, part := range passing.Split(text, -1) {
		if r := []rune(part); len(r) > maxFilter {
			part = string(r[:maxFilter])
		}
		if part = strings.TrimSpace(part); len(part) > len(longest) && render.CleanName(part) == part {
			longest = part
		}
	}
	return longest
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shellQuote quotes a word for a POSIX shell.
func shellQuote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// escaped is text within quotes in JavaScript and Python.
func escaped(s, quote string) string {
	return strings.NewReplacer(`\`, `\\`, quote, `\`+quote).Replace(s)
}
