package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// announce tells of new mail while nobody is looking: a notification of the terminal, naming the inbox, and the bell.
// While the terminal has the focus the screen alone tells.
func (a *app) announce(i *inbox, newest *message, n int) tea.Cmd {
	if !a.caps.blurred {
		return nil
	}
	text := newest.sender + ": " + newest.subject
	if n > 1 {
		text = itoa(n) + " new messages, the newest from " + newest.sender
	}
	return tea.Raw(notification(a.caps, "Mail for "+i.name(), text) + "\a")
}

// notification is the sequence that this terminal understands: OSC 99 (kitty), OSC 777 (urxvt, foot, and others), else OSC 9.
func notification(c capabilities, title, text string) string {
	title, text = plainOSC(title), plainOSC(text)
	term := strings.ToLower(c.env.Getenv("TERM") + " " + c.env.Getenv("TERM_PROGRAM"))
	var seq string
	switch {
	case strings.Contains(term, "kitty"):
		seq = "\x1b]99;i=mayfly:d=0;" + title + "\x1b\\\x1b]99;i=mayfly:p=body;" + text + "\x1b\\"
	case strings.Contains(term, "foot"), strings.Contains(term, "rxvt"), strings.Contains(term, "ghostty"), strings.Contains(term, "wezterm"):
		seq = "\x1b]777;notify;" + title + ";" + text + "\x1b\\"
	default:
		seq = "\x1b]9;" + title + ": " + text + "\x1b\\"
	}
	if c.tmux {
		seq = "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return seq
}

// plainOSC makes text fit for the inside of a sequence, where a semicolon divides and length is bounded.
func plainOSC(s string) string {
	r := []rune(strings.ReplaceAll(cleanLine(s), ";", ","))
	return string(r[:min(len(r), 120)])
}
