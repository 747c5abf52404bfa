package term

import (
	"errors"
	"image/color"
	"io"
	"os"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// Background is what text stands on.
type Background uint8

const (
	UnknownBackground Background = iota
	DarkBackground
	LightBackground
)

// Background asks the terminal that in and out are for its background, and where it does not answer
// reads COLORFGBG. It asks only in the foreground, since the kernel stops a background process that
// changes a terminal's settings, and waits for at most two seconds. Typing that arrives meanwhile is
// lost.
func (e Env) Background(in, out any) Background {
	fd, inOK := FD(in)
	_, outOK := FD(out)
	keyboard, isFile := in.(*os.File)
	screen, isWriter := out.(io.Writer)
	if inOK && outOK && isFile && isWriter && foreground(fd) {
		q := &question{File: keyboard, screen: screen}
		if c, err := lipgloss.BackgroundColor(q, q); err == nil && c != nil {
			return shade(c)
		}
	}
	return e.background()
}

// question is a terminal that is asked once: lipgloss asks one that does not answer a second time, and
// waits again.
type question struct {
	*os.File // answers
	screen   io.Writer
	asked    bool
}

var errAsked = errors.New("the terminal was asked already")

func (q *question) Write(p []byte) (int, error) {
	if q.asked {
		return 0, errAsked
	}
	q.asked = true
	return q.screen.Write(p)
}

// WriteString is in place of the file's, which io.WriteString would call.
func (q *question) WriteString(s string) (int, error) { return q.Write([]byte(s)) }

func shade(c color.Color) Background {
	switch {
	case c == nil:
		return UnknownBackground
	case tea.BackgroundColorMsg{Color: c}.IsDark():
		return DarkBackground
	}
	return LightBackground
}

// background reads COLORFGBG, rxvt's "text;background" or "text;default;background", by number of the
// sixteen colours.
func (e Env) background() Background {
	fields := strings.Split(e.Getenv("COLORFGBG"), ";")
	switch n, err := strconv.Atoi(fields[len(fields)-1]); {
	case err != nil || len(fields) < 2:
		return UnknownBackground
	case n == 7 || n == 15:
		return LightBackground
	}
	return DarkBackground
}
