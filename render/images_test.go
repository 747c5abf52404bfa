package render_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	goimage "image"
	"image/color"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"mayfly/internal/mail"
	"mayfly/render"
	"mayfly/render/image"
	"mayfly/render/layout"
)

// drawn is an image of one colour as a PNG.
func drawn(t testing.TB, w, h int, c color.Color) []byte {
	t.Helper()
	m := goimage.NewNRGBA(goimage.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	must(t, png.Encode(&b, m))
	return b.Bytes()
}

var green = color.NRGBA{30, 160, 70, 255}

func dataURL(data []byte) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)
}

// illustrated is a mail whose images stand in every kind of place.
func illustrated(t testing.TB) *render.Mail {
	photo := dataURL(drawn(t, 400, 200, green))
	return render.Open(mail.Message{
		Subject: "Images",
		HTML: `<table width="600"><tr><td><a href="https://acme.example/"><img src="cid:logo@acme" alt="Acme" width="160"></a></td><td>Order 1234</td></tr></table>
<h1>Your trip</h1>
<p>Look:<br><img src="` + photo + `" alt="The hills"><br>They await you.</p>
<p><img src="` + photo + `" width="200"></p>
<p>A paragraph of some words, in the middle of which <img src="CID:logo%40acme" width="120"> a logo stands.</p>
<blockquote><p>Quoted: <img src="cid:logo@acme" alt="Acme"></p></blockquote>
<ul><li><img src="cid:logo@acme" alt="Badge"> earned</li></ul>
<table border="1"><tr><th>Item</th><th>Price</th></tr>
<tr><td><img src="` + photo + `" alt="Tent" width="80"></td><td>120.00</td></tr><tr><td>Stove</td><td>40.00</td></tr></table>
<p dir="rtl">שלום <img src="cid:logo@acme" alt="לוגו"></p>
<p>The end.</p><p><img src="` + photo + `" width="100"></p>`,
		Attachments: []mail.Attachment{
			{ContentType: "image/png", ContentID: "logo@acme", Inline: true, Content: drawn(t, 320, 80, green)},
		},
	})
}

// modes are the ways to draw images.
var modes = map[string]image.Mode{
	"blocks": {Protocol: image.Blocks},
	"kitty":  {Protocol: image.Kitty, Cell: image.Size{Width: 2, Height: 4}},
	"cells":  {Protocol: image.KittyCells, Cell: image.Size{Width: 2, Height: 4}},
	"iterm2": {Protocol: image.ITerm2, Cell: image.Size{Width: 2, Height: 4}},
	"sixel":  {Protocol: image.Sixel, Cell: image.Size{Width: 2, Height: 4}},
}

// What may stand in a line's Draw: the sequences of the protocol, after those that take the cursor
// to the image, and before the one that takes it back.
var draws = map[image.Protocol]*regexp.Regexp{
	image.Kitty:      placedBy(kittySequence),
	image.KittyCells: regexp.MustCompile(`^` + kittySequence + `$`),
	image.ITerm2:     placedBy(`\x1b\]1337;File=size=\d+;width=\d+;height=\d+;inline=1;doNotMoveCursor=1:[A-Za-z0-9+/=]+\x07`),
	image.Sixel:      placedBy(`\x1bP0;1;8q"1;1;\d+;\d+[#!$?-~0-9;-]*\x1b\\`),
}

const kittySequence = `(?:\x1b_G(?:[a-zA-Z]=[a-zA-Z0-9]+,?)+(?:;[A-Za-z0-9+/=]+)?\x1b\\)+`

func placedBy(sequence string) *regexp.Regexp {
	return regexp.MustCompile(`^\x1bD\x1b\[A\x1b7(?:\x1b\[\d*A)?\x1b\[\d*G` + sequence + `\x1b8$`)
}

var (
	halfBlock   = regexp.MustCompile(`[▀▄]`)
	placeholder = regexp.MustCompile("\U0010eeee\\p{M}\\p{M}")
)

// holdsDrawn checks what holds for the lines of every mail with images. Without those it is what
// holds for every mail.
func holdsDrawn(t testing.TB, lines []render.Line, width int, mode image.Mode) {
	t.Helper()
	rows := 0
	for i, l := range lines {
		if w := displaywidth.String(l.Plain); w > width {
			t.Fatalf("line %d takes %d of %d columns", i, w, width)
		}
		if l.Image == 0 {
			rows = 0
			if l.Draw != "" || l.ImageID != 0 || strings.ContainsRune(l.Styled, '\U0010eeee') {
				t.Fatalf("line %d is of no image and draws: %+v", i, l)
			}
			if bare(l.Styled) != l.Plain {
				t.Fatalf("line %d of text: %q is not %q", i, l.Styled, l.Plain)
			}
			continue
		}
		if rows++; i > 0 && lines[i-1].Image != l.Image {
			rows = 1
		}
		if rows > image.MaxRows {
			t.Fatalf("line %d is row %d of an image", i, rows)
		}
		last := i == len(lines)-1 || lines[i+1].Image != l.Image
		switch draw := l.Draw != ""; {
		case mode.Protocol.Placed() && draw != last, mode.Protocol == image.KittyCells && draw != (rows == 1), mode.Protocol == image.Blocks && draw:
			t.Fatalf("line %d, row %d, draws: %v", i, rows, draw)
		case draw && !draws[mode.Protocol].MatchString(l.Draw):
			t.Fatalf("line %d draws %.300q", i, l.Draw)
		}
		bare := sgr.ReplaceAllString(l.Styled, "")
		switch mode.Protocol {
		case image.Blocks:
			bare = halfBlock.ReplaceAllString(bare, " ")
		case image.KittyCells:
			bare = placeholder.ReplaceAllString(bare, " ")
		}
		if bare != l.Plain || strings.ContainsAny(bare, "\x1b\a") {
			t.Fatalf("line %d: %q without our sequences is not %q", i, bare, l.Plain)
		}
	}
}

func TestImagesHoldAtEveryWidth(t *testing.T) {
	t.Parallel()
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			mail, again := illustrated(t), illustrated(t)
			for _, width := range []int{1, 20, 40, 80, 120} {
				if testing.Short() && width > 40 {
					break
				}
				for which, theme := range themes() {
					if theme.Profile != layout.TrueColor && mode.Protocol != image.Blocks && width != 20 {
						continue // it does not depend on the colours of text
					}
					o := render.Options{Width: width, Theme: theme, Unfold: width%3 == 0, Images: mode}
					lines := mail.Lines(render.Rich, o)
					holdsDrawn(t, lines, width, mode)
					if width <= 20 && text(lines) != text(again.Lines(render.Rich, o)) {
						t.Fatal("the same mail gave different bytes")
					}
					plain := mode.Protocol == image.Blocks && theme.Profile == layout.NoColor || mode.Protocol == image.KittyCells && theme.Profile != layout.TrueColor
					if drawn := len(imageRows(lines)) > 0; drawn == plain {
						t.Errorf("%s, %d columns: images are drawn: %v", which, width, drawn)
					}
				}
			}
		})
	}
}

// imageRows are the numbers of the images, one for each of their rows.
func imageRows(lines []render.Line) []int {
	var all []int
	for _, l := range lines {
		if l.Image > 0 {
			all = append(all, l.Image)
		}
	}
	return all
}

// TestWhereImagesStand compares the lines of a mail whose images are shown as boxes of #.
func TestWhereImagesStand(t *testing.T) {
	mail := illustrated(t)
	if here, away := mail.CountImages(); here != 9 || away != 0 {
		t.Errorf("%d images, %d away", here, away)
	}
	var out strings.Builder
	for _, name := range []string{"blocks", "kitty"} {
		for _, width := range []int{20, 80} {
			fmt.Fprintf(&out, "%s, %d columns %s\n", name, width, strings.Repeat("=", 12))
			for _, l := range mail.Lines(render.Rich, render.Options{Width: width, Theme: themes()["dark-true"], Images: modes[name]}) {
				row := l.Plain
				if l.Image > 0 {
					if name == "kitty" {
						row += "# " + kittyBox.FindString(l.Draw)
					} else {
						row = halfBlock.ReplaceAllString(sgr.ReplaceAllString(l.Styled, ""), "#")
					}
				}
				fmt.Fprintln(&out, row)
			}
		}
	}
	golden(t, "testdata/images.golden", out.String())
}

var kittyBox = regexp.MustCompile(`c=(\d+),r=(\d+)`)

func TestOnlyWhatTheMailCarriesIsDrawn(t *testing.T) {
	good, icon, shim := drawn(t, 100, 100, green), drawn(t, 32, 32, green), drawn(t, 100, 2, green)
	clear := dataURL(good)
	for name, tag := range map[string]string{
		"remote":    `<img src="https://x.example/a.png" width="100" height="100" alt="a">`,
		"file":      `<img src="file:///etc/passwd" width="100" height="100" alt="a">`,
		"relative":  `<img src="a.png" width="100" height="100" alt="a">`,
		"tracker":   `<img src="https://x.example/open.gif" width="1" height="1">`,
		"no part":   `<img src="cid:other" width="100" height="100" alt="a">`,
		"no image":  `<img src="cid:text" width="100" height="100" alt="a">`,
		"spacer":    `<img src="` + clear + `" width="1" height="100">`,
		"shim":      `<img src="` + dataURL(shim) + `" width="600" height="20">`,
		"icon":      `<img src="` + dataURL(icon) + `" alt="icon">`,
		"fine icon": `<img src="` + clear + `" width="24" alt="icon">`,
		"hidden":    `<div style="display:none"><img src="` + clear + `" alt="a"></div>`,
		"unsound":   `<img src="data:image/png;base64,iVBORw0KGgoAAAAN////" width="100" height="100" alt="a">`,
		"vector":    `<img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>" width="100" height="100" alt="a">`,
	} {
		mail := render.Open(mail.Message{HTML: "<p>Hello</p>" + tag + "<p>Bye</p>", Attachments: []mail.Attachment{
			{ContentID: "text", ContentType: "image/png", Content: []byte("no image")},
		}})
		o := render.Options{Width: 80, Theme: themes()["dark-true"]}
		without := text(mail.Lines(render.Rich, o))
		o.Images = modes["blocks"]
		if text(mail.Lines(render.Rich, o)) != without {
			t.Errorf("%s: an image is drawn", name)
		}
		if here, away := mail.CountImages(); here+away > 0 {
			t.Errorf("%s: %d and %d images are counted", name, here, away)
		}
	}
}

func TestAPartThatIsNotAtHandIsTold(t *testing.T) {
	m := mail.Message{HTML: `<p>Hello <img src="cid:a" alt="Acme"></p>`, Attachments: []mail.Attachment{{ContentID: "a", ContentType: "image/png"}}}
	if here, away := render.Open(m).CountImages(); here != 0 || away != 1 {
		t.Errorf("%d here, %d away", here, away)
	}
}

func TestForgottenImagesAreDecodedAgain(t *testing.T) {
	mail := illustrated(t)
	o := render.Options{Width: 80, Theme: themes()["dark-true"], Images: modes["blocks"]}
	before := text(mail.Lines(render.Rich, o))
	for range 10 { // more images than a message may decode
		mail.ForgetImages()
		if text(mail.Lines(render.Rich, o)) != before {
			t.Fatal("the image is another one")
		}
	}
}

func TestFoldedImagesAreWholeOrNotThere(t *testing.T) {
	photo := dataURL(drawn(t, 300, 300, green))
	for _, html := range []string{
		`<p>Hi</p><blockquote>` + strings.Repeat(`<p>words</p>`, 3) + `<img src="` + photo + `" alt="a">` + strings.Repeat("<p>words</p>", 20) + `</blockquote>`,
		`<h1>Hi</h1><p>Text of some length, as mails have it.</p><p>And more of it, to be read.</p>` +
			strings.Repeat(`<p style="font-size:10px;color:#888">Acme Inc. © 2026 <img src="`+photo+`"> <a href="https://x.example/u">unsubscribe</a></p>`, 3),
	} {
		mail := render.Open(mail.Message{HTML: html})
		lines := mail.Lines(render.Rich, render.Options{Width: 80, Theme: themes()["dark-true"], Images: modes["kitty"]})
		holdsDrawn(t, lines, 80, modes["kitty"])
		rows := len(imageRows(lines))
		draws := 0
		for _, l := range lines {
			if l.Draw != "" {
				draws++
			}
		}
		if rows > 0 != (draws > 0) {
			t.Errorf("%d rows of images, and %d drawn", rows, draws)
		}
		if !strings.Contains(lines[len(lines)-1].Plain, "more") {
			t.Errorf("nothing is folded: %q", lines[len(lines)-1].Plain)
		}
	}
}

func FuzzImages(f *testing.F) {
	part := drawn(f, 60, 60, green)
	f.Add(`<p>a <img src="cid:a"> b</p><img src="cid:a" alt="x" width="300"><blockquote><img src="cid:a"></blockquote>`, part, uint8(0))
	f.Add(`<table><tr><td><img src="`+dataURL(part)+`" alt="y"></td><td>2</td></tr></table><pre>a<img src="cid:a">b</pre>`, part, uint8(61))
	f.Fuzz(func(t *testing.T, body string, part []byte, width uint8) {
		if len(body)+len(part) > 1<<14 {
			t.Skip("longer inputs only take longer")
		}
		mail := render.Open(mail.Message{HTML: body, Attachments: []mail.Attachment{{ContentID: "a", ContentType: "image/png", Content: part}}})
		for _, mode := range modes {
			w := 1 + int(width)%120
			o := render.Options{Width: w, Theme: themes()["dark-true"], Links: true, Hidden: width%2 == 0, Unfold: width%3 == 0, Images: mode}
			holdsDrawn(t, mail.Lines(render.Rich, o), w, mode)
		}
		o := render.Options{Width: 20 + int(width), Theme: themes()["dark-true"]}
		holds(t, mail.Lines(render.Rich, o), 20+int(width))
	})
}
