package render_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"mayfly/render"
	"mayfly/render/layout"
	"mayfly/render/picture"
)

// drawn is a picture of one colour as a PNG.
func drawn(t testing.TB, w, h int, c color.Color) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var green = color.NRGBA{30, 160, 70, 255}

func dataURL(data []byte) string {
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)
}

// illustrated is a mail whose pictures stand in every kind of place.
func illustrated(t testing.TB) *render.Mail {
	photo := dataURL(drawn(t, 400, 200, green))
	return render.Open(render.Message{
		Subject: "Pictures",
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
		Attachments: []render.Attachment{
			{ContentType: "image/png", ContentID: "logo@acme", Inline: true, Content: drawn(t, 320, 80, green)},
		},
	})
}

// modes are the ways to draw pictures.
var modes = map[string]picture.Mode{
	"blocks": {Protocol: picture.Blocks},
	"kitty":  {Protocol: picture.Kitty, Cell: picture.Size{Width: 2, Height: 4}},
	"cells":  {Protocol: picture.KittyCells, Cell: picture.Size{Width: 2, Height: 4}},
	"iterm2": {Protocol: picture.ITerm2, Cell: picture.Size{Width: 2, Height: 4}},
	"sixel":  {Protocol: picture.Sixel, Cell: picture.Size{Width: 2, Height: 4}},
}

// What may stand in a line's Draw: the sequences of the protocol, after those that take the cursor to the picture, and
// before the one that takes it back.
var draws = map[picture.Protocol]*regexp.Regexp{
	picture.Kitty:      placedBy(kittySequence),
	picture.KittyCells: regexp.MustCompile(`^` + kittySequence + `$`),
	picture.ITerm2:     placedBy(`\x1b\]1337;File=size=\d+;width=\d+;height=\d+;inline=1;doNotMoveCursor=1:[A-Za-z0-9+/=]+\x07`),
	picture.Sixel:      placedBy(`\x1bP0;1;8q"1;1;\d+;\d+[#!$?-~0-9;-]*\x1b\\`),
}

const kittySequence = `(?:\x1b_G(?:[a-zA-Z]=[a-zA-Z0-9]+,?)+(?:;[A-Za-z0-9+/=]+)?\x1b\\)+`

func placedBy(sequence string) *regexp.Regexp {
	return regexp.MustCompile(`^\x1bD\x1b\[A\x1b7(?:\x1b\[\d*A)?\x1b\[\d*G` + sequence + `\x1b8$`)
}

var (
	halfBlock   = regexp.MustCompile(`[▀▄]`)
	placeholder = regexp.MustCompile("\U0010eeee\\p{M}\\p{M}")
)

// holdsDrawn checks what holds for the lines of every mail with pictures. Without those it is what holds for every mail.
func holdsDrawn(t testing.TB, lines []render.Line, width int, mode picture.Mode) {
	t.Helper()
	var text []render.Line // what is left is held to what holds without pictures
	rows := 0
	for i, l := range lines {
		if l.Picture == 0 {
			rows = 0
			if l.Draw != "" || l.ImageID != 0 || strings.ContainsRune(l.Styled, '\U0010eeee') {
				t.Fatalf("line %d is of no picture and draws: %+v", i, l)
			}
			text = append(text, l)
			continue
		}
		if rows++; i > 0 && lines[i-1].Picture != l.Picture {
			rows = 1
		}
		if rows > picture.MaxRows {
			t.Fatalf("line %d is row %d of a picture", i, rows)
		}
		last := i == len(lines)-1 || lines[i+1].Picture != l.Picture
		switch draw := l.Draw != ""; {
		case mode.Protocol.Placed() && draw != last, mode.Protocol == picture.KittyCells && draw != (rows == 1), mode.Protocol == picture.Blocks && draw:
			t.Fatalf("line %d, row %d, draws: %v", i, rows, draw)
		case draw && !draws[mode.Protocol].MatchString(l.Draw):
			t.Fatalf("line %d draws %.300q", i, l.Draw)
		}
		bare := sgr.ReplaceAllString(l.Styled, "")
		switch mode.Protocol {
		case picture.Blocks:
			bare = halfBlock.ReplaceAllString(bare, " ")
		case picture.KittyCells:
			bare = placeholder.ReplaceAllString(bare, " ")
		}
		if bare != l.Plain || strings.ContainsAny(bare, "\x1b\a") {
			t.Fatalf("line %d: %q without our sequences is not %q", i, bare, l.Plain)
		}
		if w := displaywidth.String(l.Plain); w > width {
			t.Fatalf("line %d takes %d of %d columns", i, w, width)
		}
	}
	for i, l := range text {
		bare := l
		bare.Styled = sgr.ReplaceAllString(open8.ReplaceAllString(strings.ReplaceAll(l.Styled, close8, ""), ""), "")
		if bare.Styled != l.Plain || displaywidth.String(l.Plain) > width {
			t.Fatalf("line %d of text: %q is not %q", i, bare.Styled, l.Plain)
		}
	}
}

func TestPicturesHoldAtEveryWidth(t *testing.T) {
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			mail, again := illustrated(t), illustrated(t)
			for _, width := range []int{1, 20, 40, 80, 120} {
				for which, theme := range themes() {
					if theme.Profile != layout.TrueColor && mode.Protocol != picture.Blocks && width != 20 {
						continue // of the colours of the text it knows nothing
					}
					o := render.Options{Width: width, Theme: theme, Unfold: width%3 == 0, Pictures: mode}
					lines := mail.Lines(render.Rich, o)
					holdsDrawn(t, lines, width, mode)
					if width <= 20 && text(lines) != text(again.Lines(render.Rich, o)) {
						t.Fatal("the same mail gave different bytes")
					}
					plain := mode.Protocol == picture.Blocks && theme.Profile == layout.NoColor || mode.Protocol == picture.KittyCells && theme.Profile != layout.TrueColor
					if drawn := len(pictureRows(lines)) > 0; drawn == plain {
						t.Errorf("%s, %d columns: pictures are drawn: %v", which, width, drawn)
					}
				}
			}
		})
	}
}

// pictureRows are the numbers of the pictures, one for each of their rows.
func pictureRows(lines []render.Line) []int {
	var all []int
	for _, l := range lines {
		if l.Picture > 0 {
			all = append(all, l.Picture)
		}
	}
	return all
}

// TestWherePicturesStand compares the lines of a mail whose pictures are shown as boxes of #.
func TestWherePicturesStand(t *testing.T) {
	mail := illustrated(t)
	if here, away := mail.Pictures(); here != 9 || away != 0 {
		t.Errorf("%d pictures, %d away", here, away)
	}
	var out strings.Builder
	for _, name := range []string{"blocks", "kitty"} {
		for _, width := range []int{20, 80} {
			fmt.Fprintf(&out, "%s, %d columns %s\n", name, width, strings.Repeat("=", 12))
			for _, l := range mail.Lines(render.Rich, render.Options{Width: width, Theme: themes()["dark-true"], Pictures: modes[name]}) {
				row := l.Plain
				if l.Picture > 0 {
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
	golden(t, "testdata/pictures.golden", out.String())
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
		mail := render.Open(render.Message{HTML: "<p>Hello</p>" + tag + "<p>Bye</p>", Attachments: []render.Attachment{
			{ContentID: "text", ContentType: "image/png", Content: []byte("no picture")},
		}})
		o := render.Options{Width: 80, Theme: themes()["dark-true"]}
		without := text(mail.Lines(render.Rich, o))
		o.Pictures = modes["blocks"]
		if text(mail.Lines(render.Rich, o)) != without {
			t.Errorf("%s: a picture is drawn", name)
		}
		if here, away := mail.Pictures(); here+away > 0 {
			t.Errorf("%s: %d and %d pictures are told of", name, here, away)
		}
	}
}

func TestAPartThatIsNotAtHandIsTold(t *testing.T) {
	m := render.Message{HTML: `<p>Hello <img src="cid:a" alt="Acme"></p>`, Attachments: []render.Attachment{{ContentID: "a", ContentType: "image/png"}}}
	if here, away := render.Open(m).Pictures(); here != 0 || away != 1 {
		t.Errorf("%d here, %d away", here, away)
	}
}

func TestForgottenPicturesAreDecodedAgain(t *testing.T) {
	mail := illustrated(t)
	o := render.Options{Width: 80, Theme: themes()["dark-true"], Pictures: modes["blocks"]}
	before := text(mail.Lines(render.Rich, o))
	for range 10 { // more often than a mail may decode its pictures
		mail.ForgetPictures()
		if text(mail.Lines(render.Rich, o)) != before {
			t.Fatal("the picture is another one")
		}
	}
}

func TestFoldedPicturesAreWholeOrNotThere(t *testing.T) {
	photo := dataURL(drawn(t, 300, 300, green))
	for _, html := range []string{
		`<p>Hi</p><blockquote>` + strings.Repeat(`<p>words</p>`, 3) + `<img src="` + photo + `" alt="a">` + strings.Repeat("<p>words</p>", 20) + `</blockquote>`,
		`<h1>Hi</h1><p>Text of some length, as mails have it.</p><p>And more of it, to be read.</p>` +
			strings.Repeat(`<p style="font-size:10px;color:#888">Acme Inc. © 2026 <img src="`+photo+`"> <a href="https://x.example/u">unsubscribe</a></p>`, 3),
	} {
		mail := render.Open(render.Message{HTML: html})
		lines := mail.Lines(render.Rich, render.Options{Width: 80, Theme: themes()["dark-true"], Pictures: modes["kitty"]})
		holdsDrawn(t, lines, 80, modes["kitty"])
		rows := len(pictureRows(lines))
		draws := 0
		for _, l := range lines {
			if l.Draw != "" {
				draws++
			}
		}
		if rows > 0 != (draws > 0) {
			t.Errorf("%d rows of pictures, and %d drawn", rows, draws)
		}
		if !strings.Contains(lines[len(lines)-1].Plain, "more") {
			t.Errorf("nothing is folded: %q", lines[len(lines)-1].Plain)
		}
	}
}

func FuzzPictures(f *testing.F) {
	part := drawn(f, 60, 60, green)
	f.Add(`<p>a <img src="cid:a"> b</p><img src="cid:a" alt="x" width="300"><blockquote><img src="cid:a"></blockquote>`, part, uint8(0))
	f.Add(`<table><tr><td><img src="`+dataURL(part)+`" alt="y"></td><td>2</td></tr></table><pre>a<img src="cid:a">b</pre>`, part, uint8(61))
	f.Fuzz(func(t *testing.T, body string, part []byte, width uint8) {
		if len(body)+len(part) > 1<<14 {
			t.Skip("longer inputs only take longer")
		}
		mail := render.Open(render.Message{HTML: body, Attachments: []render.Attachment{{ContentID: "a", ContentType: "image/png", Content: part}}})
		for _, mode := range modes {
			w := 1 + int(width)%120
			o := render.Options{Width: w, Theme: themes()["dark-true"], Links: true, Hidden: width%2 == 0, Unfold: width%3 == 0, Pictures: mode}
			holdsDrawn(t, mail.Lines(render.Rich, o), w, mode)
		}
		o := render.Options{Width: 20 + int(width), Theme: themes()["dark-true"]}
		holds(t, mail.Lines(render.Rich, o), 20+int(width))
	})
}
