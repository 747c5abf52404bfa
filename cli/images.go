package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mayfly/render/layout"
	"mayfly/render/picture"
)

var imageProtocols = map[string]picture.Protocol{
	"off": picture.Off, "blocks": picture.Blocks, "kitty": picture.Kitty, "iterm2": picture.ITerm2, "sixel": picture.Sixel,
}

var imageNames = []cobra.Completion{"auto", "kitty", "iterm2", "sixel", "blocks", "off"}

// protocolTexts are the ways to show a picture, for people.
var protocolTexts = map[picture.Protocol]string{
	picture.Blocks: "half blocks", picture.Kitty: "kitty graphics", picture.ITerm2: "iTerm2 images", picture.Sixel: "sixel",
}

// imagesFlag adds the flag that asks for pictures.
func (f *viewFlags) imagesFlag(a *app, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.images, "images", "off", "show the pictures that the mail carries: auto, kitty, iterm2, sixel, blocks or off")
	a.completeFlag(cmd, "images", cobra.FixedCompletions(imageNames, cobra.ShellCompDirectiveNoFileComp))
}

func (f *viewFlags) checkImages(cmd *cobra.Command) error {
	if f.images != "" && !slices.Contains(imageNames, f.images) {
		return usageOf(cmd, "--images %q: want auto, kitty, iterm2, sixel, blocks or off", f.images)
	}
	return nil
}

// pictures is how pictures are drawn: as asked, or as the terminal can.
func (f *viewFlags) pictures(a *app) picture.Mode {
	m := picture.Mode{Protocol: imageProtocols[f.images]}
	if f.json {
		return picture.Mode{}
	}
	fd, ok := terminal(a.env.Stdout)
	if f.images == "auto" {
		switch {
		case ok && a.styled():
			m.Protocol = picture.Detect(a.env.Getenv)
		case a.styled():
			m.Protocol = picture.Blocks
		}
	}
	if ok && m.Protocol.Placed() {
		m.Cell = cellSize(fd)
		if _, height, err := term.GetSize(fd); err == nil && height > 2 {
			m.Rows = height - 1 // a picture is drawn upwards from its last row
		}
	}
	if m.Protocol == picture.Blocks && a.theme().Profile == layout.NoColor {
		m.Protocol = picture.Off
	}
	return m
}
