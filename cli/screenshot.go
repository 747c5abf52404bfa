package cli

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/browser"
	"mayfly/internal/files"
	"mayfly/internal/message"
	"mayfly/render"
)

// screenshotFlags are the flags of the commands that render messages in a browser.
type screenshotFlags struct {
	picture string // the file; "" for none
	look    browser.Viewport
}

func (f *screenshotFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.picture, "screenshot", "", "render the message in an installed browser, save it as a PNG `file`, and print only the file name")
	flags.BoolVar(&f.look.Phone, "phone", false, "with --screenshot: phone width, 375 px instead of 640")
	flags.BoolVar(&f.look.Dark, "dark", false, "with --screenshot: dark mode (prefers-color-scheme: dark)")
}

// take writes the screenshot of a message, and prints its name, which has n unless that is 0.
func (f *screenshotFlags) take(ctx context.Context, a *app, c *api.Client, m *message.Message, n int) error {
	file, ext := f.picture, filepath.Ext(f.picture)
	if n > 0 {
		file = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(file, ext), n, ext)
	}
	picture, err := writePicture(ctx, a.painter(), c, m, f.look, file)
	if err != nil {
		return fmt.Errorf("%s: %w", m.ID, err)
	}
	if picture.Cut {
		fmt.Fprintf(a.env.Stderr, "mayfly: %s has the first %d px: the message is taller\n", render.Clean(file), picture.Rect.Dy())
	}
	_, err = fmt.Fprintln(a.env.Stdout, file)
	return err
}

// painter renders messages with the browser that config.toml names, or that is installed.
func (a *app) painter() *browser.Screenshotter {
	b := a.config().Browser
	a.painting.Command, a.painting.Timeout = b.Command, b.Limit()
	return &a.painting
}

// writePicture writes a message as a browser renders it.
func writePicture(ctx context.Context, p *browser.Screenshotter, c *api.Client, m *message.Message, look browser.Viewport, file string) (browser.Picture, error) {
	picture, err := p.Paint(ctx, c, m, look)
	if err != nil {
		return picture, err
	}
	var out bytes.Buffer
	if err = png.Encode(&out, picture); err == nil {
		err = files.Write(file, out.Bytes())
	}
	if err != nil {
		return picture, fmt.Errorf("writing the screenshot: %w", err)
	}
	return picture, nil
}
