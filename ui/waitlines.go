package ui

import (
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

// showTests lets the user choose the line that waits for a message like m, to copy it.
func (c *copying) showTests(m *store.Message, found *store.Extracted, address string) tea.Cmd {
	var others []*store.Message
	for _, key := range c.store.Keys(m.InboxID) {
		if o := c.store.Messages[key]; key != m.Key {
			others = append(others, o)
		}
	}
	menu := dialog.Menu{Title: "Copy a test"}
	for _, l := range waitFor(m.Summary, found, address, others) {
		menu.Choices = append(menu.Choices, dialog.Choice{Title: l[0] + ": " + render.Clean(l[1]), Do: func() tea.Cmd { return c.copy(l[1], "the line for "+l[0]) }})
	}
	return c.show(dialog.NewMenu(menu))
}

// waitFor returns the lines of tests, each after the name of what runs it, that wait for a message like m in the inbox with an
// address. They have the filters that tell it from the others there. The kits give each test an inbox of its own.
func waitFor(m api.Summary, found *store.Extracted, address string, others []*store.Message) [][2]string {
	what, of := "message", func(*store.Extracted) string { return "" }
	for _, f := range []struct {
		name string
		*extract
	}{{"link", link}, {"code", code}} {
		if f.of(found) != "" {
			what, of = f.name, f.of
		}
	}
	if what != "message" {
		others = slices.DeleteFunc(others, func(o *store.Message) bool { return o.Extracted != nil && of(o.Extracted) == "" })
	}
	with := filters(m, found.Code, others)

	shell := "mayfly wait"
	var options, arguments []string
	for _, f := range [...]struct{ name, argument, text string }{{"subject", "subject", with.Subject}, {"from", "sender", with.From}} {
		if f.text != "" {
			shell += " --" + f.name + " " + shellQuote(f.text)
			options = append(options, f.name+": '"+escaped(f.text, "'")+"'")
			arguments = append(arguments, f.argument+`="`+escaped(f.text, `"`)+`"`)
		}
	}
	if strings.HasPrefix(address, "-") {
		address = "-- " + shellQuote(address)
	} else {
		address = shellQuote(address)
	}
	if what == "message" {
		shell += " " + address
	} else {
		shell = strings.ToUpper(what) + "=$(" + shell + " --" + what + " " + address + ")"
	}
	playwright := strings.Join(options, ", ")
	if options != nil {
		playwright = "{ " + playwright + " }"
	}
	method := strings.ToUpper(what[:1]) + what[1:]
	return [][2]string{{"shell", shell}, {"Playwright", "const " + what + " = await inbox.waitFor" + method + "(" + playwright + ");"}, {"pytest", what + " = inbox.wait_for_" + what + "(" + strings.Join(arguments, ", ") + ")"}}
}

// filters are the subject and the sender of a message, as far as they tell it from others.
func filters(m api.Summary, code string, others []*store.Message) (with watch.Match) {
	for _, more := range []watch.Match{{Subject: lasting(m.Subject, code)}, {From: lasting(m.From, "")}} {
		left := slices.DeleteFunc(slices.Clone(others), func(o *store.Message) bool { return !more.Matches(o.Summary) })
		if len(left) < len(others) {
			others, with.Subject, with.From = left, with.Subject+more.Subject, with.From+more.From
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
