package render_test

import (
	"testing"

	"mayfly/render"
)

// TestUnderlines: a link is underlined, one that leads nowhere where a browser underlines it.
func TestUnderlines(t *testing.T) {
	for body, want := range map[string]string{
		`<a href="https://a.example/">Help</a>`:                              "\x1b[4mHelp\x1b[0;2m¹\x1b[m",
		`<a href="https://a.example/" style="text-decoration:none">Help</a>`: "\x1b[4mHelp\x1b[0;2m¹\x1b[m",
		`<a href="#">Help</a>`:                                               "\x1b[4mHelp\x1b[m",
		`<a href="#terms">Help</a>`:                                          "\x1b[4mHelp\x1b[m",
		`<a href="#" style="text-decoration:none">Help</a>`:                  "Help",
		`<a href="javascript:void(0)" style="text-decoration:none">Help</a>`: "Help",
		`<a name="help">Help</a>`:                                            "Help",
	} {
		if got := render.Open(html(body)).Lines(render.Rich, render.Options{Width: 80})[0].Styled; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
