package render_test

import (
	"testing"

	"mayfly/render"
)

// TestUnderlines: a link is underlined, one that leads nowhere where a browser underlines it. What is known to be a small
// picture is dim, and so is its name.
func TestUnderlines(t *testing.T) {
	for body, want := range map[string]string{
		`<a href="https://a.example/">Help</a>`:                              "\x1b[4mHelp\x1b[0;2m¹\x1b[m",
		`<a href="https://a.example/" style="text-decoration:none">Help</a>`: "\x1b[4mHelp\x1b[0;2m¹\x1b[m",
		`<a href="#">Help</a>`:                                               "\x1b[4mHelp\x1b[m",
		`<a href="#terms">Help</a>`:                                          "\x1b[4mHelp\x1b[m",
		`<a href="#" style="text-decoration:none">Help</a>`:                  "Help",
		`<a href="javascript:void(0)" style="text-decoration:none">Help</a>`: "Help",
		`<a href="https://a.example/"><img src=a alt="Great"></a>`:           "\x1b[4mGreat\x1b[0;2m¹\x1b[m",
		`<a href="https://a.example/"><img src=a alt="Great" width=90></a>`:  "\x1b[2;4mGreat\x1b[0;2m¹\x1b[m",
		`<a href="https://a.example/"><img src=a></a>`:                       "\x1b[2;4ma.example\x1b[0;2m¹\x1b[m",
		`<a name="help">Help</a>`:                                            "Help",
	} {
		if got := render.Open(html(body)).Lines(render.Rich, render.Options{Width: 80})[0].Styled; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
