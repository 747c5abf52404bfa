package term

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mayfly/internal/clean"
)

// notificationLimit is how many characters of a title or a text a notification shows.
const notificationLimit = 120

// Notification returns the sequence that makes the terminal show a desktop notification: OSC 99 for
// kitty, OSC 777 for urxvt, foot, VTE and others, else OSC 9. Title and text may come from a mail.
func (e Env) Notification(title, text string) string {
	title, text = notificationText(title), notificationText(text)
	name := strings.ToLower(e.Getenv("TERM") + " " + e.Getenv("TERM_PROGRAM"))
	is := func(terminal string) bool { return strings.Contains(name, terminal) }
	switch {
	case is("kitty"):
		return e.passthrough(ansi.DesktopNotification(title, "i=mayfly", "d=0") +
			ansi.DesktopNotification(text, "i=mayfly", "p=body"))
	case is("foot"), is("rxvt"), is("ghostty"), is("wezterm"), e.Getenv("VTE_VERSION") != "":
		return e.passthrough(ansi.URxvtExt("notify", title, text))
	}
	return e.passthrough(ansi.Notify(title + ": " + text))
}

// notificationText makes text fit into a sequence, where a semicolon separates fields.
func notificationText(s string) string {
	r := []rune(strings.ReplaceAll(clean.Line(s), ";", ","))
	return string(r[:min(len(r), notificationLimit)])
}
