package render_test

import (
	"strings"
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

// TestNumbers: each link has its number, also beside others to the same place. One around several blocks has it at the first.
func TestNumbers(t *testing.T) {
	const one = `<a href="https://a.example/">`
	for body, want := range map[string]string{
		"<table><tr><td>" + one + "Home</a><td>" + one + "Shop</a></table>": "Home¹   Shop¹",
		"<p>" + one + "Home</a><p>" + one + "Shop</a>":                      "Home¹\n\nShop¹",
		"<p>And so on<div>" + one + "<p>A lamp</p><p>It stays</p></a>":      "And so on\n\nA lamp¹\n\nIt stays",
	} {
		if got := plainText(body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestRoomAtRules: there are empty lines beside a rule that has much room.
func TestRoomAtRules(t *testing.T) {
	for body, want := range map[string]string{
		"<p>Above</p><hr><p>Below</p>":                                       "Above\n─\nBelow",
		"Above<br><br><br><br><hr><p>Below</p>":                              "Above\n\n─\nBelow",
		"<p>Above</p><hr><br><br><br><h3>Below</h3><p>And so on for you</p>": "Above\n─\n\nBelow\n\nAnd so on for you",
	} {
		if got := plainText(body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// plainText returns the text of a body, with rules of one character.
func plainText(body string) string {
	var lines []string
	for _, l := range render.Open(html(body)).Lines(render.Rich, render.Options{Width: 80}) {
		lines = append(lines, strings.ReplaceAll(l.Plain, strings.Repeat("─", 80), "─"))
	}
	return strings.Join(lines, "\n")
}
