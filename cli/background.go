package cli

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// askTime is how long a terminal may take to tell its background.
const askTime = time.Second

// darkBackground asks the terminal what text stands on. One that does not tell, or is not there, is dark unless the
// environment says otherwise.
func (a *app) darkBackground() bool {
	in, inOK := a.env.Stdin.(*os.File)
	out, outOK := a.env.Stdout.(*os.File)
	if inOK && outOK && isTerminal(in) && isTerminal(out) {
		if dark, ok := askBackground(in, out); ok {
			return dark
		}
	}
	// rxvt's convention, "text;background", by number of the sixteen colours
	_, background, _ := strings.Cut(a.env.Getenv("COLORFGBG"), ";")
	return background != "7" && background != "15"
}

// askBackground asks for the background colour (OSC 11), and after it for what every terminal answers (DA1), so that the
// wait ends with the first answers.
func askBackground(in, out *os.File) (dark, ok bool) {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return false, false
	}
	defer func() { _ = term.Restore(int(in.Fd()), state) }()
	answers, err := uv.NewCancelReader(in)
	if err != nil {
		return false, false
	}
	defer answers.Close()
	defer time.AfterFunc(askTime, func() { answers.Cancel() }).Stop()

	if _, err := io.WriteString(out, ansi.RequestBackgroundColor+ansi.RequestPrimaryDeviceAttributes); err != nil {
		return false, false
	}
	var said []byte
	for buffer := make([]byte, 256); len(said) < 4096; {
		n, err := answers.Read(buffer)
		said = append(said, buffer[:n]...)
		if err != nil || attributes.Match(said) {
			break
		}
	}
	return parseBackground(said)
}

var (
	attributes = regexp.MustCompile(`\x1b\[\?[0-9;]*c`)
	background = regexp.MustCompile(`\x1b\]11;([^\x07\x1b]*)`)
)

func parseBackground(said []byte) (dark, ok bool) {
	found := background.FindSubmatch(said)
	if found == nil {
		return false, false
	}
	color := ansi.XParseColor(string(bytes.TrimSpace(found[1])))
	if color == nil {
		return false, false
	}
	r, g, b, _ := color.RGBA()
	return 299*r+587*g+114*b < 1000*0x8000, true // luma, as of BT.601
}
