package term

import (
	"context"
	"image/color"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Background is what text stands on.
type Background uint8

const (
	UnknownBackground Background = iota
	DarkBackground
	LightBackground
)

const (
	// answerTimeout bounds the wait for a terminal's answer. What comes later would be taken for typing.
	answerTimeout = 500 * time.Millisecond
	// remoteAnswerTimeout is the same over SSH.
	remoteAnswerTimeout = time.Second
)

// Background asks the terminal that in and out are for its background, and where it does not answer
// reads COLORFGBG. It asks only in the foreground, and not in CI, where terminals do not answer. It
// waits for half a second, over SSH for one. Typing that arrives meanwhile is lost.
func (e Env) Background(ctx context.Context, in io.Reader, out io.Writer) Background {
	if !Foreground(in) || !Foreground(out) || e.Getenv("CI") != "" {
		return e.background()
	}
	timeout := answerTimeout
	if e.ssh() {
		timeout = remoteAnswerTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if c := ask(ctx, in, out); c != nil {
		return shade(c)
	}
	return e.background()
}

// maxAnswer is how many bytes of an answer are read, and of what is typed before it.
const maxAnswer = 4 << 10

// ask asks a terminal for its background (xterm's OSC 11), and for its attributes (ECMA-48 DA), which
// nearly every terminal answers, and last. The background is nil if it does not say.
func ask(ctx context.Context, in io.Reader, out io.Writer) color.Color {
	keys, err := Raw(ctx, in)
	if err != nil {
		return nil
	}
	defer keys.Close()
	if _, err := io.WriteString(out, ansi.RequestBackgroundColor+ansi.RequestPrimaryDeviceAttributes); err != nil {
		return nil
	}
	attributes := regexp.MustCompile(`\x1b\[\?[0-9;]*c`)
	var answer []byte
	for buffer := make([]byte, 256); !attributes.Match(answer) && len(answer) < maxAnswer; {
		n, err := keys.Read(buffer)
		if err != nil {
			return nil
		}
		answer = append(answer, buffer[:n]...)
	}
	if found := regexp.MustCompile(`\x1b\]11;([^\x07\x1b]*)`).FindSubmatch(answer); found != nil {
		return ansi.XParseColor(string(found[1]))
	}
	return nil
}

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
