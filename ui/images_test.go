package ui

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/apitest"
)

// illustrated delivers a mail with a image in it, one in a part of it, and a remote one.
func illustrated(h *harness) {
	m := image.NewRGBA(image.Rect(0, 0, 160, 80))
	for i := range m.Pix {
		m.Pix[i] = []uint8{30, 160, 70, 255}[i%4]
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		h.t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(b.Bytes())
	html := `<h1>Hills</h1><p><img src="data:image/png;base64,` + text + `" alt="Noon"></p><p>Between.</p>` +
		`<p><img src="cid:part@b" alt="Dusk"></p><p><img src="https://x.example/a.png" width="100" height="100" alt="Remote"></p>`
	raw := "From: a@b.example\r\nSubject: Hills\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=B\r\n\r\n" +
		"--B\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html + "\r\n" +
		"--B\r\nContent-Type: image/png\r\nContent-ID: <part@b>\r\nContent-Transfer-Encoding: base64\r\n\r\n" + text + "\r\n--B--\r\n"
	in := h.inboxNamed("ada", time.Hour)
	h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Hills", HTML: html, Raw: []byte(raw), Attachments: []api.Attachment{
		{ID: "1", ContentType: "image/png", ContentID: "part@b", Inline: true, Size: int64(b.Len())},
	}})
}

// colours are those of the cells of the screen that begin with a text, with how many cells have each.
func (h *harness) colours(text string) map[color.RGBA]int {
	colours := map[color.RGBA]int{}
	buf := h.screen()
	for y := range h.app.height {
		for x := range h.app.width {
			if c := buf.CellAt(x, y); c != nil && strings.HasPrefix(c.Content, text) {
				colours[color.RGBAModel.Convert(c.Style.Fg).(color.RGBA)]++
			}
		}
	}
	return colours
}

func TestImagesAreShownOnRequest(t *testing.T) {
	play(t, setting{width: 120, height: 40, service: apitest.Options{Extensions: true}, before: illustrated}, func(h *harness) {
		h.step("enter", "2 images: i shows them", "1 remote image: not loaded", "Noon", "Dusk")
		if cells := h.colours("▀"); len(cells) > 0 {
			t.Fatalf("half blocks before they were asked for: %v", cells)
		}
		h.step("i", "Noon", "Between.", "Dusk", "Remote")
		h.dontSee("i shows them")
		if cells := h.colours("▀"); len(cells) != 1 || cells[color.RGBA{30, 160, 70, 255}] != 2*5*20 { // twice 160×80 px
			t.Fatalf("half blocks of %v:\n%s", cells, strings.Join(h.text(), "\n"))
		}
		h.step("i", "2 images: i shows them", "The images are hidden again")
		if cells := h.colours("▀"); len(cells) > 0 {
			t.Errorf("half blocks are left: %v", cells)
		}
	})
}

var given = regexp.MustCompile(`\x1b_G[^;\x1b]*i=(\d+)[^;\x1b]*U=1`)

func TestKittyShowsImagesByPlaceholders(t *testing.T) {
	for version, cells := range map[string]bool{"kitty(0.41.1)": true, "kitty(0.26.5)": false} {
		play(t, setting{width: 120, height: 40, service: apitest.Options{Extensions: true}, before: illustrated}, func(h *harness) {
			h.send(tea.EnvMsg{"TERM=xterm-kitty"})
			h.send(tea.TerminalVersionMsg{Name: version})
			h.press("enter", "i")
			raw := strings.Join(h.raw, "")
			ids := given.FindAllStringSubmatch(raw, -1)
			if !cells {
				if len(ids) > 0 || len(h.colours("▀")) == 0 {
					t.Errorf("%s is given %d images", version, len(ids))
				}
				return
			}
			if len(ids) != 1 { // the two are one image of one size
				t.Fatalf("%d images in %.200q", len(ids), raw)
			}
			id, _ := strconv.Atoi(ids[0][1])
			if cells := h.colours("\U0010eeee"); len(cells) != 1 || cells[color.RGBA{uint8(id >> 16), uint8(id >> 8), uint8(id), 255}] != 200 {
				t.Errorf("cells show images %v, want %d", cells, id)
			}
			h.press("i")
			if free := "\x1b_Ga=d,d=I,q=2,i=" + ids[0][1] + "\x1b\\"; !strings.Contains(strings.Join(h.raw, ""), free) {
				t.Errorf("the image is not freed: %.200q", h.raw)
			}
			h.see("2 images: i shows them")
		})
	}
}
