package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf16"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mayfly/api"
	"mayfly/internal/term"
	"mayfly/render"
	"mayfly/ui/theme"
)

// columns is the width of the terminal that stdout is, else 80.
func (a *app) columns() int { return columnsOf(a.env.Stdout) }

func columnsOf(stream any) int { return cmp.Or(term.SizeOf(stream).Columns, 80) }

// styled reports whether stdout gets colours and hyperlinks.
func (a *app) styled() bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	return term.Is(a.env.Stdout) && a.env.Getenv("TERM") != "dumb"
}

// colorProfile returns which colours stdout gets.
func (a *app) colorProfile() colorprofile.Profile {
	if file, ok := a.env.Stdout.(*os.File); ok {
		lipgloss.EnableLegacyWindowsANSI(file) // elsewhere it does nothing
	}
	switch {
	case !a.styled():
		return colorprofile.NoTTY
	case a.color != "always" && a.visit != nil:
		return colorprofile.Env(a.env.Environ)
	case a.color != "always":
		return colorprofile.Detect(a.env.Stdout, a.env.Environ)
	case a.env.Getenv("NO_COLOR") == "":
		return max(colorprofile.Env(a.env.Environ), colorprofile.ANSI256)
	}
	return colorprofile.Env(a.env.Environ)
}

// darkBackground reports whether the terminal has a dark background, which is assumed when it does
// not say, and when it gets no colours, for which it is not asked.
func (a *app) darkBackground(ctx context.Context, profile colorprofile.Profile) bool {
	if profile < colorprofile.ANSI {
		return true
	}
	defer a.changesTerminal()()
	return a.env.Environ.Background(ctx, a.env.Stdin, a.env.Stdout) != term.LightBackground
}

// theme returns the theme of the application, as far as stdout can show it.
func (a *app) theme(ctx context.Context) *theme.Theme {
	profile := a.colorProfile()
	th, _ := theme.For(a.config().UI.Theme, a.darkBackground(ctx, profile), true, profile) // it has been checked
	return th
}

// list writes elements to stdout: as JSON, a line each, or as a table of their rows.
func list[T any](a *app, all []T, asJSON bool, row func(T) []string) error {
	var rows [][]string
	for _, one := range all {
		var object any = one
		if inbox, ok := object.(api.Inbox); ok {
			object = asReceived(inbox.Raw, inbox)
		}
		if !asJSON {
			rows = append(rows, row(one))
		} else if err := writeJSON(a.env.Stdout, object); err != nil {
			return err
		}
	}
	return a.table(a.env.Stdout, rows)
}

// table writes rows of clean cells: on a terminal in columns, lines cut at its width, else whole
// and separated by tabs.
func (a *app) table(w io.Writer, rows [][]string) error {
	var out strings.Builder
	if !term.Is(a.env.Stdout) {
		for _, row := range rows {
			out.WriteString(strings.Join(row, "\t") + "\n")
		}
		_, err := io.WriteString(w, out.String())
		return err
	}
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
			}
		}
		out.WriteString(ansi.Truncate(line.String(), a.columns(), "…") + "\n")
	}
	_, err := io.WriteString(w, a.placed(out.String()))
	return err
}

// placed returns rows for stdout. What a program reads has no marks.
func (a *app) placed(rows string) string {
	if !term.Is(a.env.Stdout) {
		return rows
	}
	return term.KeepPlaces(rows)
}

// timestamp formats a time for programs, in UTC.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(api.TimeFormat)
}

// timeLeft formats how long it is from now until t.
func timeLeft(t, now time.Time) string {
	d := t.Sub(now)
	switch {
	case t.IsZero():
		return "-"
	case d <= 0:
		return "expired"
	}
	return theme.Remaining(d) + " left"
}

// local returns a time where the user is.
func (a *app) local(t time.Time) time.Time {
	if a.visit != nil {
		return t.In(a.visit.location)
	}
	return t.Local()
}

// localTime formats a time for people, without the date when it is today.
func (a *app) localTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	t = a.local(t)
	if y, m, d := a.local(time.Now()).Date(); t.Year() == y && t.Month() == m && t.Day() == d {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}

// paged calls write with a writer to $PAGER if stdout is a terminal, else to stdout. Quitting the
// pager early is not an error.
func (a *app) paged(ctx context.Context, write func(io.Writer) error) error {
	command := a.pagerCommand()
	if len(command) == 0 {
		return write(a.env.Stdout)
	}
	cmd := a.pager(ctx, command)
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the pager: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return write(a.env.Stdout)
	}
	err = write(in)
	if cerr := in.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		err = nil
	}
	if werr := cmd.Wait(); err == nil && werr != nil && ctx.Err() == nil {
		err = fmt.Errorf("the pager %s: %w", command[0], werr)
	}
	return err
}

func (a *app) pager(ctx context.Context, command []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = a.env.Stdout, a.env.Stderr
	cmd.Env = slices.Clone(a.env.Environ)
	if a.env.Getenv("LESS") == "" {
		// Quit if it fits on one screen, keep colours, leave the text on the screen.
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	return cmd
}

// pagerCommand returns $PAGER, by default less, and nothing without that program or a terminal, which
// a pager needs to be in the foreground of.
func (a *app) pagerCommand() []string {
	if a.visit != nil || !term.Foreground(a.env.Stdout) || !term.Foreground(a.env.Stdin) || a.env.Getenv("TERM") == "dumb" {
		return nil
	}
	command := strings.Fields(a.env.Getenv("PAGER"))
	if len(command) == 0 {
		command = []string{"less"}
	}
	if _, err := exec.LookPath(command[0]); err != nil || command[0] == "cat" {
		return nil
	}
	return command
}

// writeJSON writes v as one line of JSON. A json.RawMessage keeps its members, their order and
// their values.
func writeJSON(w io.Writer, v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err := io.WriteString(w, escapeControls(line.String()))
	return err
}

// escapeControls escapes every rune that a terminal could act on: controls, line and paragraph
// separators, private use and format characters (bidi, zero width, tags). The line is safe to print and
// its values stay the same, since such runes occur only inside strings.
func escapeControls(line string) string {
	var out strings.Builder
	for _, r := range line {
		if r == '\n' || unicode.IsPrint(r) || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// progress shows on stderr, if that is a terminal that can erase a line, what is waited for and how
// much time is left. It shows nothing in the background, where it would get in the way of what the
// user types. The function it returns removes the line.
func (a *app) progress(ctx context.Context, what func() string) (stop func()) {
	if !term.Is(a.env.Stderr) || a.env.Environ.Dumb() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	show := func(line string) {
		if term.Foreground(a.env.Stderr) {
			fmt.Fprint(a.env.Stderr, "\r"+ansi.EraseLineRight+ansi.Truncate(line, columnsOf(a.env.Stderr)-1, "…"))
		}
	}
	var drawing sync.WaitGroup
	drawing.Go(func() {
		tick := time.NewTicker(125 * time.Millisecond)
		defer tick.Stop()
		for frame := 0; ; frame++ {
			line := string([]rune(`⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏`)[frame%10]) + " " + what()
			if end, ok := ctx.Deadline(); ok {
				line += " · " + timeLeft(end, time.Now())
			}
			show(line)
			select {
			case <-ctx.Done():
				show("")
				return
			case <-tick.C:
			}
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		drawing.Wait()
	})
}

// slowAnswer is how long the user waits for an answer before they are told. An attempt may take 30 s, and
// there are four.
const slowAnswer = 6 * time.Second

// slowWarner tells the user of each request that is not answered soon, except long polls.
type slowWarner struct {
	http.RoundTripper
	terminal io.Writer
}

func (w slowWarner) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Prefer") == "" {
		defer time.AfterFunc(slowAnswer, func() {
			fmt.Fprintf(w.terminal, "\r%smayfly: %s does not answer; still trying, ctrl+c stops\n", ansi.EraseLineRight, render.Clean(r.URL.Host))
		}).Stop()
	}
	return w.RoundTripper.RoundTrip(r)
}
