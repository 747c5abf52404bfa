package ui

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
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/api"
	"mayfly/api/apitest"
)

// illustrated delivers a mail with a picture in it, one in a part of it, and a remote one.
func illustrated(s *stage) {
	m := image.NewRGBA(image.Rect(0, 0, 160, 80))
	for i := range m.Pix {
		m.Pix[i] = []uint8{30, 160, 70, 255}[i%4]
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		s.t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(b.Bytes())
	html := `<h1>Hills</h1><p><img src="data:image/png;base64,` + text + `" alt="Noon"></p><p>Between.</p>` +
		`<p><img src="cid:part@b" alt="Dusk"></p><p><img src="https://x.example/a.png" width="100" height="100" alt="Remote"></p>`
	raw := "From: a@b.example\r\nSubject: Hills\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=B\r\n\r\n" +
		"--B\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html + "\r\n" +
		"--B\r\nContent-Type: image/png\r\nContent-ID: <part@b>\r\nContent-Transfer-Encoding: base64\r\n\r\n" + text + "\r\n--B--\r\n"
	in := s.inboxNamed("ada", time.Hour)
	s.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Hills", HTML: html, Raw: []byte(raw), Attachments: []api.Attachment{
		{ID: "1", ContentType: "image/png", ContentID: "part@b", Inline: true, Size: int64(b.Len())},
	}})
}

// count is how many cells of the screen hold a text.
func (s *stage) count(text string) int { return strings.Count(strings.Join(s.text(), "\n"), text) }

func TestPicturesAreShownOnRequest(t *testing.T) {
	play(t, setting{width: 120, height: 40, service: apitest.Options{Extensions: true}, before: illustrated}, func(s *stage) {
		s.press("enter")
		s.see("2 pictures: i shows them", "1 remote image: not loaded", "Noon", "Dusk")
		if n := s.count("▀"); n > 0 {
			t.Fatalf("%d half blocks before they were asked for", n)
		}
		s.press("i")
		s.see("Noon", "Between.", "Dusk", "Remote")
		s.dontSee("i shows them")
		if n := s.count(strings.Repeat("▀", 20)); n != 10 { // twice 160×80 px
			t.Fatalf("%d rows of pictures:\n%s", n, strings.Join(s.text(), "\n"))
		}
		buf := s.screen()
		for y := range s.app.height {
			for x := range s.app.width {
				if c := buf.CellAt(x, y); c != nil && c.Content == "▀" {
					r, g, b, _ := c.Style.Fg.RGBA()
					if r>>8 != 30 || g>>8 != 160 || b>>8 != 70 {
						t.Fatalf("the cell at %d, %d is %v", x, y, c.Style.Fg)
					}
				}
			}
		}
		s.press("i")
		s.see("2 pictures: i shows them", "The pictures are hidden again")
		if n := s.count("▀"); n > 0 {
			t.Errorf("%d half blocks are left", n)
		}
	})
}

func TestPicturesAreOfTheMessageOnly(t *testing.T) {
	play(t, setting{width: 120, height: 40, service: apitest.Options{Extensions: true}, before: illustrated}, func(s *stage) {
		s.press("enter", "i")
		shown := s.app.reader.opened
		s.press("2")
		if n := s.count("▀"); n > 0 {
			t.Errorf("%d half blocks in the view of the text", n)
		}
		s.press("i", "i") // to the rich view
		if n := s.count("▀"); n == 0 || s.app.pictures.of != shown {
			t.Error("the pictures are not shown")
		}
		s.press("esc", "esc")
		if s.app.pictures.of != nil {
			t.Error("what was decoded is kept")
		}
	})
}

func TestWithoutPicturesTheKeySaysWhy(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.press("enter", "i")
		s.see("This message carries no pictures")
		s.dontSee("i pictures")
	})
	play(t, setting{width: 120, height: 40, profile: colorprofile.ASCII, service: apitest.Options{Extensions: true}, before: illustrated}, func(s *stage) {
		s.press("enter", "i")
		s.see("Pictures are drawn in colours")
		s.dontSee("shows them")
	})
	play(t, setting{width: 120, height: 40, before: illustrated}, func(s *stage) { // which has no raw messages
		s.press("enter", "i")
		s.see("Between.")
		if n := s.count(strings.Repeat("▀", 20)); n != 5 {
			t.Errorf("%d rows of the picture that is in the HTML", n)
		}
	})
}

var given = regexp.MustCompile(`\x1b_G[^;\x1b]*i=(\d+)[^;\x1b]*U=1`)

func TestKittyShowsPicturesByPlaceholders(t *testing.T) {
	for version, cells := range map[string]bool{"kitty(0.41.1)": true, "kitty(0.26.5)": false} {
		play(t, setting{width: 120, height: 40, service: apitest.Options{Extensions: true}, before: illustrated}, func(s *stage) {
			s.send(tea.EnvMsg{"TERM=xterm-kitty"})
			s.send(tea.TerminalVersionMsg{Name: version})
			s.press("enter", "i")
			raw := strings.Join(s.raw, "")
			ids := given.FindAllStringSubmatch(raw, -1)
			if !cells {
				if len(ids) > 0 || s.count("▀") == 0 {
					t.Errorf("%s is given %d images", version, len(ids))
				}
				return
			}
			if len(ids) != 1 { // the two are one picture of one size
				t.Fatalf("%d images in %.200q", len(ids), raw)
			}
			var id color.RGBA
			n := 0
			buf := s.screen()
			for y := range s.app.height {
				for x := range s.app.width {
					if c := buf.CellAt(x, y); c != nil && strings.HasPrefix(c.Content, "\U0010eeee") {
						r, g, b, _ := c.Style.Fg.RGBA()
						id = color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0}
						n++
					}
				}
			}
			if got := fmt.Sprint(int(id.R)<<16 | int(id.G)<<8 | int(id.B)); n != 200 || got != ids[0][1] {
				t.Errorf("%d cells show image %s, want %s", n, got, ids[0][1])
			}
			s.send(tea.WindowSizeMsg{Width: 119, Height: 40})
			s.settle()
			if again := given.FindAllString(strings.Join(s.raw, ""), -1); len(again) != 1 {
				t.Errorf("an image of the same size was given %d times", len(again))
			}
			s.press("i")
			if free := "\x1b_Ga=d,d=I,q=2,i=" + ids[0][1] + "\x1b\\"; !strings.Contains(strings.Join(s.raw, ""), free) {
				t.Errorf("the image is not freed: %.200q", s.raw)
			}
			s.see("2 pictures: i shows them")
		})
	}
}
