package ui

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/apitest"
	"mayfly/internal/fortest"
)

// The colours in which the browser of these tests paints.
var (
	light      = color.RGBA{200, 0, 0, 255}
	dark       = color.RGBA{0, 0, 150, 255}
	lightPhone = color.RGBA{0, 180, 0, 255}
	darkPhone  = color.RGBA{120, 120, 0, 255}
)

// browserOf is a machine with a browser that paints 960 px in one colour for each look, two mails in an inbox, and how
// often it painted.
func browserOf(t *testing.T) (set setting, runs func() int) {
	if runtime.GOOS == "windows" {
		t.Skip("the browser of this test is a shell script")
	}
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		fortest.Must(t, os.WriteFile(path, content, 0o700))
		return path
	}
	for name, c := range map[string]color.RGBA{"640 light": light, "640 dark": dark, "375 light": lightPhone, "375 dark": darkPhone} {
		width := 640
		if strings.HasPrefix(name, "375") {
			width = 375
		}
		m := image.NewRGBA(image.Rect(0, 0, width, 960))
		draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
		m.Set(1, 955, color.White) // or all of it would be background
		var b bytes.Buffer
		fortest.Must(t, png.Encode(&b, m))
		write(name, []byte(base64.StdEncoding.EncodeToString(b.Bytes())))
	}
	log := filepath.Join(dir, "log")
	// Each message of the DevTools protocol is read at once: the next one waits for its answer.
	script := write("browser", []byte(`#!/bin/sh
cd '`+dir+`'
id=0
while message=$(dd bs=65536 count=1 <&3 2>/dev/null | tr -d '\0') && [ "$message" ]; do
  id=$((id + 1)) data=
  case $message in
  *setDeviceMetricsOverride*) width=${message#*'"width":'} width=${width%%[,\}]*} ;;
  *setEmulatedMedia*) scheme=${message#*'"value":"'} scheme=${scheme%%'"'*} ;;
  *captureScreenshot*) data=$(cat "$width $scheme") && echo run >>log ;;
  esac
  printf '{"id":%d,"result":{"targetId":"t","sessionId":"s","result":{"value":960},"data":"%s"}}\0' $id "$data" >&4
done
`))
	set = setting{width: 120, height: 36, service: apitest.Options{Extensions: true}, config: "[browser]\ncommand = '" + script + "'\n", before: func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "First", Text: "Hello"})
		h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Second", Text: "Hello"})
	}}
	return set, func() int {
		content, _ := os.ReadFile(log) // without one it was not run
		return strings.Count(string(content), "run")
	}
}

// seePainted fails unless the screen shows half blocks of one colour only.
func (h *harness) seePainted(want color.RGBA) {
	h.t.Helper()
	if cells := h.colours("▀"); len(cells) != 1 || cells[want] == 0 {
		h.t.Fatalf("half blocks of %v, want %v:\n%s", cells, want, strings.Join(h.text(), "\n"))
	}
}

func TestAMessageAsABrowserPaintsIt(t *testing.T) {
	set, runs := browserOf(t)
	play(t, set, func(h *harness) {
		h.step("enter", "Second", "Hello")
		h.dontSee("w phone")
		h.step("w", "Only available in the web view: 7 shows it")
		h.step("7", "Half blocks", "w phone  W dark")
		h.seePainted(light)
		h.press("w")
		h.seePainted(lightPhone)
		h.press("W")
		h.seePainted(darkPhone)
		h.see("phone dark  view 7 of 7")
		h.press("w")
		h.seePainted(dark)
		h.press("W")
		if h.seePainted(light); runs() != 4 {
			t.Errorf("the browser was run %d times for four looks", runs())
		}
		h.see("↓")
		h.press("G")
		h.dontSee("↓", "Half blocks")
		h.step("2", "Hello")
		if cells := h.colours("▀"); len(cells) > 0 {
			t.Errorf("the text is below a picture: %v", cells)
		}
		h.press("7", "W")
		h.step("shift+tab j", "First", "Hello")
		h.press("7") // the look is kept
		if h.seePainted(dark); runs() != 5 {
			t.Errorf("the browser was run %d times for two mails", runs())
		}
		h.press("k", "7")
		if h.seePainted(dark); runs() != 6 {
			t.Errorf("the browser was run %d times: a picture goes with its mail", runs())
		}
		h.send(tea.WindowSizeMsg{Width: 40, Height: 12})
		h.settle()
		h.step("enter", "dark  view 7 of 7", "w phone  W light")
		h.seePainted(dark)
	})
}

func TestNoBrowserPaints(t *testing.T) {
	set, _ := browserOf(t)
	set.config = ""
	play(t, set, func(h *harness) {
		h.step("7", "no-browser-in-tests, the command under [browser]", "r try again")
		h.step("1", "Hello")
		h.dontSee("no-browser")
	})
}

// TestAPictureSurvivesOtherPrograms shows it by iTerm2's images, which are drawn over the cells.
func TestAPictureSurvivesOtherPrograms(t *testing.T) {
	set, _ := browserOf(t)
	play(t, set, func(h *harness) {
		drawn := func() int { h.wait(time.Second); return strings.Count(strings.Join(h.raw, ""), "\x1b]1337;File=") }
		h.send(tea.EnvMsg{"TERM_PROGRAM=iTerm.app"})
		if h.press("enter", "7"); drawn() != 1 {
			t.Fatalf("drawn %d times", drawn())
		}
		h.send(tea.WindowSizeMsg{Width: 120, Height: 36}) // as after an editor or a pager
		if drawn() != 2 {
			t.Errorf("drawn %d times", drawn())
		}
		if h.press("?"); drawn() != 2 {
			t.Error("drawn over a dialog")
		}
		if h.press("esc"); drawn() != 3 {
			t.Errorf("after the dialog, drawn %d times", drawn())
		}
	})
}
