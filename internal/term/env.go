// Package term is the terminal that a program runs in: what it can do, its clipboard, its
// notifications, its background, and the opener of the desktop around it.
package term

import (
	"runtime"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"mayfly/internal/clean"
)

// Env is the environment of a program, as NAME=value, for what it says about the terminal. Where a
// name occurs twice the last one counts.
type Env []string

// Getenv returns the value of a variable, "" when it is not set.
func (e Env) Getenv(name string) string { return uv.Environ(e).Getenv(name) }

// ssh reports whether the program runs in an SSH session, on a machine that the user is not at.
func (e Env) ssh() bool { return e.Getenv("SSH_TTY") != "" || e.Getenv("SSH_CONNECTION") != "" }

// tmux reports whether the terminal is a pane of tmux.
func (e Env) tmux() bool { return e.Getenv("TMUX") != "" }

// Dumb reports whether the terminal can only print lines, or says nothing of itself where terminals
// do.
func (e Env) Dumb() bool {
	name := e.Getenv("TERM")
	return name == "dumb" || name == "" && runtime.GOOS != "windows"
}

// screenLimit is how many bytes of a sequence are passed through GNU Screen at a time: it took 256
// before 2014 and takes 768 since, both with what surrounds them.
const screenLimit = 240

// passthrough wraps a sequence so that a multiplexer hands it to the terminal it runs in.
func (e Env) passthrough(sequence string) string {
	switch {
	case e.tmux():
		return ansi.TmuxPassthrough(sequence)
	case strings.HasPrefix(e.Getenv("TERM"), "screen"):
		return ansi.ScreenPassthrough(sequence, screenLimit)
	}
	return sequence
}

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
