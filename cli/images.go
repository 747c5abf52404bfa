package cli

import (
	"slices"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"mayfly/internal/term"
	"mayfly/render/image"
)

var imageProtocols = map[string]image.Protocol{
	"off": image.Off, "blocks": image.Blocks, "kitty": image.Kitty, "iterm2": image.ITerm2, "sixel": image.Sixel,
}

var imageNames = []cobra.Completion{"auto", "kitty", "iterm2", "sixel", "blocks", "off"}

// protocolTexts name the protocols for people.
var protocolTexts = map[image.Protocol]string{
	image.Blocks: "half blocks", image.Kitty: "kitty graphics", image.ITerm2: "iTerm2 images", image.Sixel: "sixel",
}

func (f *viewFlags) imagesFlag(a *app, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.images, "images", "off", "`how` to show the images embedded in the mail: auto, kitty, iterm2, sixel, blocks or off")
	a.completeFlag(cmd, "images", cobra.FixedCompletions(imageNames, cobra.ShellCompDirectiveNoFileComp))
}

func (f *viewFlags) checkImages() error {
	if f.images != "" && !slices.Contains(imageNames, f.images) {
		return usagef("--images %q: want auto, kitty, iterm2, sixel, blocks or off", f.images)
	}
	return nil
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
