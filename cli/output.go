package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mayfly/api"
	"mayfly/internal/term"
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
		if !asJSON {
			rows = append(rows, row(one))
		} else if err := writeJSON(a.env.Stdout, one); err != nil {
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
	_, err := io.WriteString(w, out.String())
	return err
}

// timestamp formats a time for programs, in UTC.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(api.TimeFormat)
}

// timeLeft formats how long it is until t, in one unit.
func timeLeft(t time.Time) string {
	d := time.Until(t)
	switch {
	case t.IsZero():
		return "-"
	case d <= 0:
		return "expired"
	}
	return span(d) + " left"
}

// span formats a duration in the largest unit of which it has at least two.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// localTime formats a time for people, without the date when it is today.
func localTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	t = t.Local()
	if y, m, d := time.Now().Date(); t.Year() == y && t.Month() == m && t.Day() == d {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}
