package image_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	goimage "image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mattn/go-sixel"
	"golang.org/x/image/bmp"

	"mayfly/internal/fortest"
	"mayfly/render/image"
)

var (
	red  = color.RGBA{200, 30, 60, 255}
	blue = color.RGBA{20, 60, 200, 255}
)

// halves is an image that is red on the left and blue on the right.
func halves(w, h int) *goimage.RGBA {
	m := goimage.NewRGBA(goimage.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			if x < w/2 {
				m.SetRGBA(x, y, red)
			} else {
				m.SetRGBA(x, y, blue)
			}
		}
	}
	return m
}

func encoded(t testing.TB, f func(b *bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, f(&b))
	return b.Bytes()
}

var must = fortest.Must

func pngOf(t testing.TB, m goimage.Image) []byte {
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) })
}

// A red image of 64×48, lossy and lossless: nothing here writes WebP.
const (
	webpLossy    = "UklGRlAAAABXRUJQVlA4IEQAAACQAwCdASpAADAAPtForlIoJiQioqgBABoJZwDLaAd7tTT4REAAAP7paRQfFy//43j+5T/FPj/IIHGWXzbZqrHNbAAAAA=="
	webpLossless = "UklGRiQAAABXRUJQVlA4TBcAAAAvP8ALAAdQjyKXp/8BICH8Xy9G9D/1AwA="
)

func samples(t testing.TB) map[string][]byte {
	m := halves(64, 48)
	lossy, err := base64.StdEncoding.DecodeString(webpLossy)
	must(t, err)
	lossless, err := base64.StdEncoding.DecodeString(webpLossless)
	must(t, err)
	return map[string][]byte{
		"png":           pngOf(t, m),
		"jpeg":          encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, m, nil) }),
		"gif":           encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, m, nil) }),
		"bmp":           encoded(t, func(b *bytes.Buffer) error { return bmp.Encode(b, m) }),
		"webp":          lossy,
		"webp lossless": lossless,
	}
}

func near(a, b color.RGBA) bool {
	d := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return d(a.R, b.R)+d(a.G, b.G)+d(a.B, b.B) < 40 && a.A == b.A
}

func TestEveryFormatIsDecoded(t *testing.T) {
	for name, data := range samples(t) {
		p, err := image.Decode(bytes.NewReader(data), &image.Budget{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Width != 64 || p.Height != 48 || !p.Opaque {
			t.Errorf("%s: %d×%d, opaque %v", name, p.Width, p.Height, p.Opaque)
		}
		d := p.Draw(8, 3, image.Mode{Protocol: image.Blocks}, color.RGBA{}, color.RGBA{A: 255})
		if c := d.Cells[0]; len(d.Cells) != 24 || !near(c.Top, red) || !near(c.Bottom, red) {
			t.Errorf("%s: the first of %d cells is %v", name, len(d.Cells), c)
		}
		if c := d.Cells[23]; !strings.HasPrefix(name, "webp") && !near(c.Bottom, blue) {
			t.Errorf("%s: the last cell is %v", name, c)
		}
		if w, h, err := image.Config(bytes.NewReader(data)); w != 64 || h != 48 || err != nil {
			t.Errorf("%s: its header tells %d×%d, %v", name, w, h, err)
		}
	}
}

func TestOfAGIFTheFirstFrameIsSeen(t *testing.T) {
	frame := func(c color.Color, r goimage.Rectangle) *goimage.Paletted {
		m := goimage.NewPaletted(r, color.Palette{color.Transparent, c})
		for i := range m.Pix {
			m.Pix[i] = 1
		}
		return m
	}
	data := encoded(t, func(b *bytes.Buffer) error {
		return gif.EncodeAll(b, &gif.GIF{
			Image: []*goimage.Paletted{frame(red, goimage.Rect(50, 50, 100, 100)), frame(blue, goimage.Rect(0, 0, 100, 100))},
			Delay: []int{1, 1}, Config: goimage.Config{Width: 100, Height: 100},
		})
	})
	p, err := image.Decode(bytes.NewReader(data), &image.Budget{})
	must(t, err)
	d := p.Draw(4, 2, image.Mode{Protocol: image.Blocks}, color.RGBA{}, color.RGBA{A: 255})
	if first, last := d.Cells[0], d.Cells[7]; p.Opaque || first.Top.A != 0 || !near(last.Bottom, red) {
		t.Errorf("the frame covers a quarter: %v … %v", first, last)
	}
}

// chunk is a chunk of a PNG.
func chunk(kind string, data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// claimed is the beginning of a PNG of the size it says it has.
func claimed(w, h uint32, depth, interlace byte) []byte {
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	header = append(header, depth, 6, 0, 0, interlace)
	return append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", header)...)
}

func TestWhatClaimsTooMuchIsNotDecoded(t *testing.T) {
	progressive := func(w, h uint16) []byte {
		out := []byte{0xff, 0xd8, 0xff, 0xc2, 0, 17, 8}
		out = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(out, h), w)
		return append(out, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0)
	}
	lying := samples(t)["webp"]
	lying[4], lying[5], lying[6] = 0xff, 0xff, 0xff
	for name, data := range map[string][]byte{
		"side":        claimed(16385, 8, 8, 0),
		"area":        claimed(4000, 3000, 8, 0),
		"depth":       claimed(3000, 3000, 16, 0),
		"interlaced":  claimed(3000, 3000, 8, 1),
		"progressive": progressive(3000, 3000),
		"container":   lying,
		"bytes":       append(claimed(100, 100, 8, 0), make([]byte, 17<<20)...),
	} {
		if _, err := image.Decode(bytes.NewReader(data), &image.Budget{}); !errors.Is(err, image.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("GIF is a format"), "script": []byte("<svg onload=x>"), "cut": pngOf(t, halves(64, 48))[:80],
		"shim": pngOf(t, halves(600, 2)),
	} {
		if p, err := image.Decode(bytes.NewReader(data), &image.Budget{}); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestAMailHasABudget(t *testing.T) {
	small, large := pngOf(t, halves(64, 48)), pngOf(t, halves(1200, 1200))
	for name, data := range map[string][]byte{"number": small, "pixels": large} {
		synctest.Test(t, func(t *testing.T) { // it takes no time
			var b image.Budget
			n := 0
			for range 100 {
				if _, err := image.Decode(bytes.NewReader(data), &b); err == nil {
					n++
				} else if !errors.Is(err, image.ErrBudget) {
					t.Fatal(err)
				}
			}
			if n == 0 || n > 32 {
				t.Errorf("%s: %d images of a mail are decoded", name, n)
			}
		})
	}
}

func TestTheBoxKeepsTheRatio(t *testing.T) {
	for _, c := range []struct {
		w, h, declaredW, declaredH, room int
		mode                             image.Mode
		columns, rows                    int
	}{
		{320, 160, 0, 0, 80, image.Mode{}, 40, 10},
		{320, 160, 0, 0, 20, image.Mode{}, 20, 5},
		{320, 160, 160, 0, 80, image.Mode{}, 20, 5},
		{320, 160, 0, 80, 80, image.Mode{}, 20, 5},
		{320, 160, 160, 160, 80, image.Mode{}, 20, 5}, // the mail's height is not the image's
		{400, 4000, 0, 0, 80, image.Mode{}, 5, 24},
		{400, 4000, 0, 0, 80, image.Mode{Rows: 10}, 2, 10},
		{4000, 80, 0, 0, 80, image.Mode{}, 80, 1},
		{320, 160, 0, 0, 80, image.Mode{Cell: image.Size{Width: 10, Height: 10}}, 40, 20},
		{320, 160, 0, 0, 80, image.Mode{Cell: image.Size{Width: 0, Height: 9999}}, 40, 10},
		{32, 32, 0, 0, 80, image.Mode{}, 0, 0},     // an icon
		{320, 320, 24, 24, 80, image.Mode{}, 0, 0}, // an icon of high resolution
		{600, 3, 0, 0, 80, image.Mode{}, 0, 0},     // a shim
		{600, 60, 600, 0, 1, image.Mode{}, 1, 1},
	} {
		p := image.Image{Width: c.w, Height: c.h}
		if columns, rows := p.Box(c.declaredW, c.declaredH, c.room, c.mode); columns != c.columns || rows != c.rows {
			t.Errorf("%+v: %d×%d", c, columns, rows)
		}
	}
}

// The sequences of each protocol, to the last byte.
var grammar = map[image.Protocol]*regexp.Regexp{
	image.Kitty:      regexp.MustCompile(`^\x1b_Gf=100,q=2,(c=\d+,r=\d+,|C=1,|a=T,?|m=1,?|t=d,?)+;[A-Za-z0-9+/=]+\x1b\\(\x1b_Gq=2,m=[01](;[A-Za-z0-9+/=]+)?\x1b\\)*$`),
	image.KittyCells: regexp.MustCompile(`^\x1b_Gf=100,q=2,i=\d+,(c=\d+,r=\d+,|U=1,?|a=T,?|m=1,?|t=d,?)+;[A-Za-z0-9+/=]+\x1b\\(\x1b_Gq=2,m=[01](;[A-Za-z0-9+/=]+)?\x1b\\)*$`),
	image.ITerm2:     regexp.MustCompile(`^\x1b\]1337;File=size=\d+;width=\d+;height=\d+;inline=1;doNotMoveCursor=1:[A-Za-z0-9+/=]+\x07$`),
	image.Sixel:      regexp.MustCompile(`^\x1bP0;1;8q"1;1;\d+;\d+[#!$?-~0-9;-]*\x1b\\$`),
}

var payload = regexp.MustCompile(`[;:]([A-Za-z0-9+/=]+)(?:\x1b\\|\x07)`)

// shown decodes what a terminal would.
func shown(t testing.TB, p image.Protocol, sequence string) goimage.Image {
	t.Helper()
	var m goimage.Image
	var err error
	if p == image.Sixel {
		err = sixel.NewDecoder(strings.NewReader(sequence)).Decode(&m)
	} else {
		var text strings.Builder
		for _, part := range payload.FindAllStringSubmatch(sequence, -1) {
			text.WriteString(part[1])
		}
		m, err = png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text.String())))
	}
	must(t, err)
	return m
}

func TestTerminalsAreGivenThePixels(t *testing.T) {
	// The text in it must not reach a terminal: what is sent is made of the pixels.
	marked := pngOf(t, halves(640, 320))
	marked = append(append(bytes.Clone(marked[:33]), chunk("tEXt", []byte("Comment\x00\x1b]0;owned\x07"))...), marked[33:]...)
	for protocol, want := range grammar {
		var sequences []string
		for range 2 {
			p, err := image.Decode(bytes.NewReader(marked), &image.Budget{})
			must(t, err)
			mode := image.Mode{Protocol: protocol, Cell: image.Size{Width: 9, Height: 18}}
			d := p.Draw(40, 10, mode, color.RGBA{}, color.RGBA{A: 255})
			sequences = append(sequences, d.Sequence)
			if (d.ID > 0) != (protocol == image.KittyCells) {
				t.Errorf("%d: the ID is %d", protocol, d.ID)
			}
		}
		if sequences[0] != sequences[1] {
			t.Errorf("%d: the same image gave different bytes", protocol)
		}
		if !want.MatchString(sequences[0]) {
			t.Errorf("%d: %.200q", protocol, sequences[0])
		}
		m := shown(t, protocol, sequences[0])
		size := m.Bounds().Size()
		if size != goimage.Pt(360, 180) {
			t.Errorf("%d: of %v", protocol, size)
		}
		at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(m.At(x, y)).(color.RGBA) }
		if !near(at(10, 10), red) || !near(at(size.X-10, size.Y-10), blue) {
			t.Errorf("%d: %v … %v", protocol, at(10, 10), at(size.X-10, size.Y-10))
		}
	}
}

func TestTransparency(t *testing.T) {
	m := goimage.NewNRGBA(goimage.Rect(0, 0, 80, 80))
	for y := range 40 {
		for x := range 80 {
			m.SetNRGBA(x, y, color.NRGBA{10, 10, 20, 255})
		}
	}
	p, err := image.Decode(bytes.NewReader(pngOf(t, m)), &image.Budget{})
	if err != nil || p.Opaque || p.Mean != (color.NRGBA{10, 10, 20, 255}) {
		t.Fatalf("%+v, %v", p, err)
	}
	mode := image.Mode{Protocol: image.Blocks}
	if c := p.Draw(2, 2, mode, color.RGBA{}, color.RGBA{A: 255}).Cells[3]; c.Bottom.A != 0 {
		t.Errorf("what is behind does not shine through: %v", c)
	}
	if c := p.Draw(2, 2, mode, color.RGBA{255, 255, 255, 255}, color.RGBA{A: 255}).Cells[3]; c.Bottom != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("it is not put on white: %v", c)
	}
}

func TestFromURL(t *testing.T) {
	data := pngOf(t, halves(64, 48))
	text := base64.StdEncoding.EncodeToString(data)
	escaped := strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D").Replace(text)
	for _, src := range []string{
		"data:image/png;base64," + text, "DATA:;BASE64," + text, "data:image/png;name=x.png;base64," + text[:40] + "\r\n \t" + text[40:],
		"data:image/png;base64," + escaped, "data:image/png;base64," + strings.TrimRight(text, "="),
	} {
		r, ok := image.FromURL(src)
		if !ok {
			t.Errorf("%.40q is no image", src)
			continue
		}
		if p, err := image.Decode(r, &image.Budget{}); err != nil || p.Width != 64 {
			t.Errorf("%.40q: %v", src, err)
		}
	}
	for _, src := range []string{"", "data:", "data:image/png;base64", "https://x.example/a.png", "cid:a", "file:///a.png", "javascript:x,y"} {
		if _, ok := image.FromURL(src); ok {
			t.Errorf("%q is read", src)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want image.Protocol
	}{
		{map[string]string{"TERM": "xterm-256color"}, image.Blocks},
		{map[string]string{"TERM": "xterm-kitty"}, image.Kitty},
		{map[string]string{"TERM": "xterm-ghostty"}, image.Kitty},
		{map[string]string{"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, image.Kitty},
		{map[string]string{"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1", "TMUX": "/tmp/x"}, image.Blocks},
		{map[string]string{"TERM": "screen", "TERM_PROGRAM": "iTerm.app"}, image.Blocks},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, image.ITerm2},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, image.ITerm2},
		{map[string]string{"TERM": "foot"}, image.Sixel},
		{map[string]string{"TERM": "xterm-sixel"}, image.Sixel},
		{nil, image.Blocks},
	} {
		if got := image.Detect(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %d", c.env, got)
		}
	}
	for version, want := range map[string]bool{
		"kitty(0.28.1)": true, "kitty(1.2.0)": true, "kitty(0.26.5)": false, "ghostty 1.0.1": true, "": false, "WezTerm 2024": false, "kitty(": false,
	} {
		if image.KnowsPlaceholders(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data, uint8(40), uint8(10))
	}
	f.Add(claimed(3000, 3000, 16, 1), uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, columns, rows uint8) {
		if len(data) > 1<<16 {
			t.Skip("longer inputs only take longer")
		}
		p, err := image.Decode(bytes.NewReader(data), &image.Budget{})
		if err != nil {
			return
		}
		w, h := 1+int(columns)%120, 1+int(rows)%24
		if d := p.Draw(w, h, image.Mode{Protocol: image.Blocks}, color.RGBA{}, color.RGBA{A: 255}); len(d.Cells) != w*h {
			t.Errorf("%d cells of %d×%d", len(d.Cells), w, h)
		}
		for protocol, want := range grammar {
			mode := image.Mode{Protocol: protocol, Cell: image.Size{Width: 4, Height: 8}}
			if d := p.Draw(w, h, mode, color.RGBA{}, color.RGBA{A: 255}); !want.MatchString(d.Sequence) {
				t.Errorf("%d: %.200q", protocol, d.Sequence)
			}
		}
	})
}
