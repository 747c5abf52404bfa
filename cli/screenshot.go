package cli

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/browser"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/host"
)

// screenshotFlags are the flags of the commands that have a browser paint messages.
type screenshotFlags struct {
	file string // "" for none
	look browser.Look
}

func (f *screenshotFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "screenshot", "", "write a picture of the message, as an installed browser paints it, to this `file` (PNG), and print its name")
	flags.BoolVar(&f.look.Phone, "phone", false, "with --screenshot: 375 px wide, as on a phone, instead of 640")
	flags.BoolVar(&f.look.Dark, "dark", false, "with --screenshot: for a reader who prefers dark colours")
}

func (f *screenshotFlags) check() error {
	if f.file == "" && f.look != (browser.Look{}) {
		return usagef("--phone and --dark say what --screenshot FILE is to show")
	}
	return nil
}

// numbered is the name of the picture of message n, from 1, of several.
func (f *screenshotFlags) numbered(n int) string {
	ext := filepath.Ext(f.file)
	return strings.TrimSuffix(f.file, ext) + "-" + strconv.Itoa(n) + ext
}

// painter paints messages with the browser that config.toml names, or that is installed.
func (a *app) painter() *browser.Painter {
	return &browser.Painter{Command: a.config().Browser.Command}
}

// screenshot writes a picture of a message, which was fetched by c or is a file, and returns a remark on it.
func screenshot(ctx context.Context, p *browser.Painter, c *api.Client, m *message.Message, look browser.Look, file string) (remark string, err error) {
	picture, err := p.Paint(ctx, host.PageOf(ctx, c, m), look)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, picture.Image); err != nil {
		return "", fmt.Errorf("encoding the picture: %w", err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return "", fmt.Errorf("writing the picture: %w", err)
	}
	if picture.Cut {
		remark = fmt.Sprintf("mayfly: %s has the first %d px: the message is taller", render.Clean(file), picture.Image.Rect.Dy())
	}
	return remark, nil
}
