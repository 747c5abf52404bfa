package css

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func TestColors(t *testing.T) {
	for s, want := range map[string]string{
		"#abc": "aabbcc", "#aabbcc": "aabbcc", "#abcd": "aabbcc/.87", "#aabbcc80": "aabbcc/.50", "red": "ff0000", "rebeccapurple": "663399",
		"rgb(1,2,3)": "010203", "rgb(1 2 3)": "010203", "rgb(100%, 0%, 50%)": "ff0080", "rgba(1,2,3,.5)": "010203/.50", "rgb(1 2 3 / 50%)": "010203/.50",
		"rgb(300,-5,0)": "ff0000", "transparent": "000000/.00",
		"": "", "#ab": "", "#xyzxyz": "", "rgb(1,2)": "", "rgb(1,2,3": "", "rgb(a,b,c)": "", "var(--x)": "", "nocolor": "", "#12345678901234567": "",
	} {
		got := ""
		if c, ok := parseColor(s); ok {
			got = fmt.Sprintf("%02x%02x%02x", c.r, c.g, c.b)
			if c.a != 1 {
				got += fmt.Sprintf("/%.2f", c.a)
				got = strings.Replace(got, "/0", "/", 1)
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	for s, want := range map[string]bool{"ffcc00": true, "FFF": true, "#123": true, "Red": true, "12345": false, "": false} {
		if _, ok := legacyColor(s); ok != want {
			t.Errorf("bgcolor %q: %v", s, ok)
		}
	}
}

func TestLengths(t *testing.T) {
	for s, want := range map[string]float32{
		"10px": 10, "10": 10, "1.5em": 30, "2rem": 32, "12pt": 16, "50%": 100, "1in": 96, "0": 0, ".5px": .5, "-3px": -3, " 4px ": 4, "1pc": 16, "2ex": 20, "10vw": 60,
	} {
		l, ok := ParseLength(s)
		if got := l.Px(20, 200); !ok || got != want {
			t.Errorf("%q: %v %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "auto", "px", "1e9px", "NaN", "calc(1px + 2px)", "inherit"} {
		if l, ok := ParseLength(s); ok {
			t.Errorf("%q is %v", s, l)
		}
	}
}

func TestDeclarations(t *testing.T) {
	for css, want := range map[string]string{
		"color:red":                                   "color=red",
		" COLOR : RED !Important ;;x:y;":              "color=red!",
		"background:url(a;b);color:blue":              "background=url(a;b) color=blue",
		`font-family:"a;b";color:blue`:                `font-family="a;b" color=blue`,
		"color:red;color":                             "color=red",
		"unknown:1;-webkit-x:2":                       "",
		"color:var(--a, var(--b,#2c2c2e)) !important": "color=#2c2c2e!",
		"color:var(--a":                               "color=",
		"display:none!important":                      "display=none!",
		"background:linear-gradient(var(--a,red),var(--b, rgb(1,2,3)))": "background=linear-gradient(red, rgb(1,2,3))",
		"color:" + strings.Repeat("var(--a,", 100_000) + "blue":         "color=blue", // in one pass
	} {
		var all []string
		for _, d := range parseDecls(css) {
			name := ""
			for n, set := range properties {
				if reflect.ValueOf(set).Pointer() == reflect.ValueOf(d.set).Pointer() && (name == "" || len(n) < len(name)) {
					name = n
				}
			}
			value := name + "=" + d.value
			if d.important {
				value += "!"
			}
			all = append(all, value)
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%q: %q, want %q", css, got, want)
		}
	}
}

// TestBorders: which borders are drawn, however they are written.
func TestBorders(t *testing.T) {
	for css, want := range map[string]string{
		"border:1px solid #ccc": "all", "border:solid": "all", "border:1px #ccc": "none", "border:0 solid red": "none", "border:none": "none", "": "",
		"border:1px solid rgb(200, 0, 0)": "all", "border:1px solid rgba(0, 0, 0, 0)": "none", "border:1px solid transparent": "none",
		"border-style:solid;border-width:1px;border-color:rgb(200,200,200)": "all", "border-width:1px;border-color:red": "none",
		"border-style:solid;border-width:0 0 1px": "bottom", "border-width:1px 0 0 0;border-style:solid none none": "top",
		"border-top:1px solid #eee": "top", "border-top-style:solid;border-top-width:2px": "top", "border-left:3px solid red": "other",
		"border-top:9px solid;border-bottom:9px solid;border-left:9px solid;border-right:9px solid": "all",
		"border:1px solid red;border-bottom:0":                                                      "all", "border:1px solid red;border-style:none": "none", "border:none;border-bottom:1px solid": "bottom",
	} {
		var c Cascade
		s := c.Compute(&html.Node{Type: html.ElementNode, Attr: []html.Attribute{{Key: "style", Val: css}}}, &Initial)
		got := ""
		switch {
		case s.Border:
			got = "all"
		case s.NoBorder:
			got = "none"
		case s.Ruled[Top]:
			got = "top"
		case s.Ruled[Bottom]:
			got = "bottom"
		case css != "":
			got = "other"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", css, got, want)
		}
	}
}

// TestCascade: what text looks like by style sheets as browsers read them.
func TestCascade(t *testing.T) {
	for css, want := range map[string]string{
		"th{font:13px/2 Courier}": "plain 13px high mono", "th{font:bold italic 13px Arial}": "bold italic 13px", "th{font:600 13px Arial}": "bold 13px",
		"th{font:bold Arial}": "bold 16px", "th{font:13px/16px Arial}": "plain 13px high",
		"td;th{font-weight:normal}": "bold 16px", "}th{font-weight:normal}": "bold 16px", ";th{font-weight:normal}": "bold 16px",
		"@import 'a.css';th{font-weight:normal}": "plain 16px", "@media screen{th{font-weight:normal}}": "plain 16px",
		"th{color:#000;background:#fff;opacity:.6}": "bold 16px #666666", "th{opacity:60%}": "bold 16px #666666", "th{opacity:1}": "bold 16px",
	} {
		var c Cascade
		c.Add(css)
		s := c.Compute(&html.Node{Type: html.ElementNode, Data: "th", DataAtom: atom.Th}, &Initial)
		got := "plain"
		if s.Bold {
			got = "bold"
		}
		if s.Italic {
			got += " italic"
		}
		got += fmt.Sprintf(" %gpx", s.Size)
		if s.LineHeight.IsSet() {
			got += " high"
		}
		if s.Mono {
			got += " mono"
		}
		if s.Color.Set {
			got += fmt.Sprintf(" #%02x%02x%02x", s.Color.R, s.Color.G, s.Color.B)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", css, got, want)
		}
	}
	for value, want := range map[string]int{"1fr 1fr": 2, "repeat(3, 1fr)": 3, "repeat(auto-fit, minmax(200px, 1fr))": 2, "repeat(auto-fill,minmax(140px,1fr))": 3, "repeat(auto-fit, minmax(400px, 1fr))": 1} {
		if got := countTracks(value); got != want {
			t.Errorf("%s: %d columns, want %d", value, got, want)
		}
	}
}
