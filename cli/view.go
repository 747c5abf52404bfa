package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"mayfly/internal/files"
	"mayfly/internal/message"
	"mayfly/internal/term"
	"mayfly/render"
	"mayfly/render/check"
	"mayfly/render/image"
	"mayfly/render/layout"
	"mayfly/ui/reader"
)

// viewFlags are the flags of the commands that show a message.
type viewFlags struct {
	view   string
	width  int // columns, 0 for lines that are not wrapped, or unset
	json   bool
	images string // "" for a command without images
	format string // "text", or that of a CI system for the findings; "" for a command without
	failOn string // the level of checks from which on the command fails; "" for none
	// keyFile has the public key of DKIM, and key is its record; "" if none was given.
	keyFile, key string
}

func (a *app) viewFlags(cmd *cobra.Command) *viewFlags {
	f := &viewFlags{width: unset}
	flags := cmd.Flags()
	choiceFlag(cmd, flags, &f.view, "view", "rich", "`view` to show: rich, text, html, headers, raw or checks", reader.Views[:render.Web]...)
	flags.IntVar(&f.width, "width", f.width, "wrap lines at N columns; 0 disables wrapping (default: the terminal's width; in a pipe 80 for the rich view, else 0)")
	flags.Lookup("width").DefValue = "" // the text says it
	flags.BoolVar(&f.json, "json", false, "print each message on a line as JSON, with its code, link and checks")
	return f
}

// maxWidth bounds --width, and unset is its value when it is not given.
const maxWidth, unset = 10_000, -1

func (f *viewFlags) check(cmd *cobra.Command) error {
	if f.width < 0 && cmd.Flags().Changed("width") || f.width > maxWidth {
		return usagef("--width %d: must be between 1 and %d, or 0 to disable wrapping", f.width, maxWidth)
	}
	if f.keyFile == "" {
		return nil
	}
	text, err := files.ReadNamed(f.keyFile, 64<<10)
	if err == nil {
		f.key, err = check.DKIMKey(string(text))
	}
	if err != nil {
		return fmt.Errorf("--dkim-key %s: %w", f.keyFile, err)
	}
	return nil
}

func (f *viewFlags) columns(a *app) int {
	switch {
	case f.width > 0:
		return f.width
	case f.width == 0, f.view != "rich" && !f.json && !term.Is(a.env.Stdout):
		return layout.Unwrapped
	}
	return a.columns()
}

// theme is the theme for stdout. JSON has no styles, so the terminal is not asked for its colours.
func (f *viewFlags) theme(ctx context.Context, a *app) render.Theme {
	if f.json || !a.styled() {
		return render.Theme{Dark: true}
	}
	return a.theme(ctx).Render()
}

// show writes a view of a message, with the header above its body.
func show(w io.Writer, m *message.Message, view render.View, o render.Options) error {
	out := bufio.NewWriter(w)
	if view == render.Rich || view == render.Text {
		var header strings.Builder
		writeHeader(&header, m, o)
		out.WriteString(header.String())
	}
	for _, line := range m.Mail().Lines(view, o) {
		if styled(o.Theme) {
			out.WriteString(line.Styled)
		} else {
			out.WriteString(strings.TrimRight(line.Plain, " "))
		}
		out.WriteString(line.Draw)
		out.WriteByte('\n')
	}
	return out.Flush()
}

// writeHeader writes sender, recipient, subject, time and attachments; nothing for a body alone.
func writeHeader(out *strings.Builder, m *message.Message, o render.Options) {
	type row struct{ name, value string }
	rows := []row{{"From", message.Sender(m.From.Name, m.From.Addr)}, {"To", render.Clean(m.Recipients())}, {"Subject", render.Clean(m.Subject)}}
	if !m.ReceivedAt.IsZero() {
		rows = append(rows, row{"Date", m.ReceivedAt.Local().Format("Mon, 2 Jan 2006 15:04:05 -0700")})
	}
	for _, i := range m.Files() {
		a := m.Attachments[i]
		rows = append(rows, row{"File", fmt.Sprintf("%s, %s", render.CleanName(a.Filename), render.Bytes(a.Size))})
	}
	const indent = 9
	written := false
	for _, r := range rows {
		if r.value == "" {
			continue
		}
		written = true
		label := fmt.Sprintf("%-*s", indent, r.name)
		if o.Width <= 2*indent {
			out.WriteString(ansi.Wrap(label+r.value, o.Width, "") + "\n")
			continue
		}
		if styled(o.Theme) {
			label = ansi.Style{}.Faint().Styled(label)
		}
		value := ansi.Wrap(r.value, o.Width-indent, "")
		out.WriteString(label + strings.ReplaceAll(value, "\n", "\n"+strings.Repeat(" ", indent)) + "\n")
	}
	if written {
		out.WriteString("\n")
	}
}

// styled reports whether a theme allows escape sequences.
func styled(t render.Theme) bool { return t.Profile != layout.NoColor || t.Hyperlinks }

func (f *viewFlags) print(a *app, w io.Writer, m *message.Message, theme render.Theme) error {
	if f.json {
		return writeJSON(w, m.Report(f.columns(a)))
	}
	view := render.View(slices.Index(reader.Views[:], f.view))
	if f.width <= 0 && !a.styled() && !term.Is(a.env.Stdout) && (view == render.Text || view == render.HTML || view == render.Raw) {
		source, err := m.Source(view)
		if err == nil {
			_, err = io.WriteString(w, source)
		}
		return err
	}
	var rows strings.Builder
	if err := show(&rows, m, view, render.Options{Width: f.columns(a), Theme: theme, Unfold: true, Images: f.imageMode(a)}); err != nil {
		return err
	}
	_, err := io.WriteString(w, a.placed(rows.String()))
	return err
}

func (f *viewFlags) failOnFlag(cmd *cobra.Command) {
	choiceFlag(cmd, cmd.Flags(), &f.failOn, "fail-on", "", "exit with status 1 on a finding of this `level` or above: error, warning, or client (errors, warnings and a layout that breaks in a mail client)",
		check.Error.String(), check.Warning.String(), "client")
	cmd.Flags().StringVar(&f.keyFile, "dkim-key", "", "verify the DKIM signature by the public key in this `file`: the text of its TXT record, or PEM")
}

// verdict is the error for a message in which the checks found what --fail-on does not let pass.
func (f *viewFlags) verdict(m *message.Message) error {
	if f.failOn == "" {
		return nil
	}
	var failed []check.Finding
	var ids []string
	findings := m.Mail().Checks
	if f.failOn == "client" {
		findings = m.Mail().Findings
	}
	for _, found := range findings() {
		if found.Level == check.Error || found.Level.String() == f.failOn || f.failOn == "client" && (found.Level == check.Warning || found.Level == check.Layout) {
			failed, ids = append(failed, found), append(ids, found.ID)
		}
	}
	if failed == nil {
		return nil
	}
	return fmt.Errorf("%s: %s found: %s", m.ID, english.Plural(check.Count(failed), "fault", ""), strings.Join(slices.Compact(ids), ", "))
}

var imageProtocols = map[string]image.Protocol{
	"off": image.Off, "blocks": image.Blocks, "kitty": image.Kitty, "iterm2": image.ITerm2, "sixel": image.Sixel,
}

// protocolTexts name the protocols for people.
var protocolTexts = map[image.Protocol]string{
	image.Blocks: "half blocks", image.Kitty: "kitty graphics", image.ITerm2: "iTerm2 images", image.Sixel: "sixel",
}

func (f *viewFlags) imagesFlag(cmd *cobra.Command) {
	choiceFlag(cmd, cmd.Flags(), &f.images, "images", "off", "`how` to show the images embedded in the message: auto, kitty, iterm2, sixel, blocks or off",
		"auto", "kitty", "iterm2", "sixel", "blocks", "off")
}

// imageMode returns how images are drawn: as asked for, or with auto as stdout allows.
func (f *viewFlags) imageMode(a *app) image.Mode {
	m := image.Mode{Protocol: imageProtocols[f.images]}
	if f.json {
		return image.Mode{}
	}
	if f.images == "auto" && a.styled() {
		m.Protocol = image.Blocks
		if term.Is(a.env.Stdout) {
			m.Protocol = image.Detect(a.env.Getenv)
		}
	}
	if m.Protocol.Placed() {
		size := term.SizeOf(a.env.Stdout)
		m.Cell = image.Size{Width: size.CellWidth, Height: size.CellHeight}
		if size.Rows > 2 {
			m.Rows = size.Rows - 1 // an image is drawn upwards from its last row
		}
	}
	if m.Protocol == image.Blocks && a.colorProfile() < colorprofile.ANSI {
		m.Protocol = image.Off
	}
	return m
}
