package html

import (
	"strings"
	"testing"
)

func TestWhatImagesSay(t *testing.T) {
	const home = `<a href="https://lamps.example/">`
	photo := func(attrs string) string {
		return `<img src="https://cdn.example/p.jpg" width=300 height=200 ` + attrs + `>`
	}
	icon := func(file string) string { return `<img src="https://cdn.example/` + file + `" width=24 height=24>` }
	checkBlocks(t, map[string]struct{ html, want string }{
		"a brand":                                  {photo(`alt="Lamps & Co"`) + "<p>Hello", "p(Lamps & Co) p(Hello)"},
		"no text":                                  {photo("") + "<p>Hello", "p(Hello)"},
		"no text, in the mail":                     {`<img src="cid:a" width=300 height=200><p>Hello`, "p(Hello)"},
		"a decoration":                             {photo(`alt=""`) + "<p>Hello", "p(Hello)"},
		"what it is":                               {photo(`alt="Header image"`) + photo(`alt="alt_text"`) + photo(`alt="spacer"`) + "<p>Hello", "p(Hello)"},
		"the name of a file":                       {photo(`alt="hero_v2.png"`) + "<p>Hello", "p(Hello)"},
		"a tooltip":                                {photo(`title="The shop at night"`) + "<p>Hello", "p(The shop at night) p(Hello)"},
		"text above":                               {"<p>Desk lamp</p>" + photo(`alt="Desk lamp"`) + "<p>Hello", "p(Desk lamp) p(Hello)"},
		"text below":                               {photo(`alt="Desk lamp"`) + "<p><b>Desk lamp</b><br>Brass", "p(Desk lamp\nBrass)"},
		"text below a date":                        {photo(`alt="Desk lamp"`) + "<p>18 February</p><p>Desk lamp</p>", "p(18 February) p(Desk lamp)"},
		"a part of the text":                       {photo(`alt="Desk lamp"`) + "<p>Desk lamp, brass</p>", "p(Desk lamp, brass)"},
		"text and what follows it":                 {photo(`alt="Desk lamp, brass, size M"`) + "<p>Desk lamp, brass</p><p>M</p>", "p(Desk lamp, brass) p(M)"},
		"the text with an article":                 {photo(`alt="Desk lamp"`) + "<p>The desk lamp</p>", "p(The desk lamp)"},
		"words of a long text":                     {photo(`alt="Desk lamp"`) + "<p>Each desk deserves a better lamp</p>", "p(Desk lamp) p(Each desk deserves a better lamp)"},
		"who speaks":                               {`<img src="https://cdn.example/1.png" width=40 height=40 alt="@ann"><p>Ann Lee wrote</p>`, "p(Ann Lee wrote)"},
		"a picture of who speaks":                  {photo(`alt="Ann Lee's avatar"`) + "<p>Ann Lee wrote</p>", "p(Ann Lee wrote)"},
		"text, and what it is":                     {photo(`alt="Desk lamp – product image"`) + "<p>Desk lamp</p>", "p(Desk lamp)"},
		"a word of the text":                       {photo(`alt="Lamps"`) + "<p>Lamps for every desk</p>", "p(Lamps) p(Lamps for every desk)"},
		"what it is, not in English":               {`<table><tr><td>` + photo(`alt="图片"`) + "<td>台灯<tr><td>" + photo(`alt="图片"`) + "<td>壁灯</table>", "p(台灯) p(壁灯)"},
		"the same twice":                           {photo(`alt="Desk lamp"`) + photo(`alt="Desk lamp"`) + "<p>Hello", "p(Desk lamp) p(Hello)"},
		"the same, linked elsewhere":               {photo(`alt="Lamp"`) + "<p>Hello</p>" + home + photo(`alt="Lamp"`) + "</a>", "p(Lamp) p(Hello) p([Lamp]1)"},
		"a link":                                   {home + photo("") + "</a><p>Hello", "p([lamps.example]1) p(Hello)"},
		"a link twice":                             {home + photo("") + "</a><p>Hello</p>" + home + photo("") + "</a>", "p([lamps.example]1) p(Hello)"},
		"a link with a tooltip":                    {`<a href="https://lamps.example/" title="All lamps">` + photo("") + "</a><p>Hello", "p([All lamps]1) p(Hello)"},
		"a link that text has":                     {home + photo("") + "</a><p>Hello</p>" + home + "Our lamps</a>", "p(Hello) p([Our lamps]1)"},
		"a link that text has, to its index":       {`<a href="https://lamps.example/desk/index.htm">` + photo("") + `</a><p><a href="https://lamps.example/desk/">Desk lamps</a>`, "p([Desk lamps]1)"},
		"a link near that of text":                 {`<a href="https://lamps.example/desk/?id=1">` + photo("") + `</a><p><a href="https://lamps.example/desk/?id=2">Desk lamps</a>`, "p([lamps.example]1) p([Desk lamps]2)"},
		"links through a tracker":                  {`<a href="https://click.example/c/1">` + photo("") + `</a><p><a href="https://click.example/c/2">Desk lamps</a></p><a href="https://click.example/c/3">` + photo("") + `</a><p><a href="https://click.example/c/4">Wall lamps</a>`, "p([[image 300×200]]1) p([Desk lamps]2) p([[image 300×200]]3) p([Wall lamps]4)"},
		"icons of one name":                        {home + `<img src="https://cdn.example/1.png" width=24 height=24 alt=Lamps></a> ` + home + `<img src="https://cdn.example/2.png" width=24 height=24 alt=Lamps></a><p>Hello`, "p([Lamps]1) p(Hello)"},
		"icons of a rating":                        {strings.Repeat(`<img src="https://cdn.example/1.png" width=24 height=24 alt=star>`, 3) + "<p>Hello", "p(star · star · star) p(Hello)"},
		"home among others":                        {home + photo("") + `</a><p>Hello</p><a href="https://lamps.example/2">` + photo("") + `</a>`, "p([lamps.example]1) p(Hello) p([[image 300×200]]2)"},
		"products":                                 {`<table><tr><td>` + home + photo("") + `</a><td><a href="https://lamps.example/b">` + photo("") + `</a><tr><td>` + home + `Desk</a><td><a href="https://lamps.example/b">Wall</a></table>`, "table(row(cell(p([Desk]1)) cell(p([Wall]2))))"},
		"icons":                                    {`<a href="https://www.facebook.com/lamps">` + icon("1.png") + `</a> <a href="https://t.example/lamps">` + icon("2.png") + "</a>", "p([Facebook]1 · [t.example]2)"},
		"icons, one leading where text does":       {`<a href="https://www.facebook.com/lamps">` + icon("1.png") + `</a> <a href="https://t.example/lamps">` + icon("2.png") + `</a><p><a href="https://t.example/lamps">More</a>`, "p([Facebook]1 · [t.example]2) p([More]2)"},
		"icons through a tracker":                  {`<a href="https://click.example/1">` + icon("facebook@2x.png") + `</a> <a href="https://click.example/2">` + icon("instagram-icon.png") + "</a>", "p([Facebook]1 · [Instagram]2)"},
		"icons through a tracker, named by a shop": {`<a href="https://click.example/1">` + icon("lamps_weibo.png") + `</a> <a href="https://click.example/2">` + icon("lampslogo.png") + "</a>", "p([Weibo]1 · [[image 24×24]]2)"},
		"the name of its file":                     {photo(`alt="h_logo_lamps"`) + "<p>Hello", "p(Hello)"},
		"words of a line below, not beside it":     {"<p>Lamp<p>A<p>B<p>C</p>" + photo(`alt="Lamp"`) + "<p>Hello", "p(Lamp) p(A) p(B) p(C) p(Lamp) p(Hello)"},
		"what all in a row are":                    {`<table><tr><td>` + photo(`alt="Tour"`) + "<p>Alps<td>" + photo(`alt="Tour"`) + "<p>Andes<tr><td>" + photo(`alt="Tour"`) + "<p>Urals<td>Jura</table>", "table(row(cell(p(Alps)) cell(p(Andes))) row(cell(p(Urals)) cell(p(Jura))))"},
		"an arrow in a link":                       {home + "Show all" + photo(`alt="&gt;"`) + "</a>" + home + "More" + photo(`alt="&gt;"`) + "</a>", "p([Show all]1[>]1[More]1[>]1)"},
		"icons in cells":                           {`<table><tr><td><a href="https://www.facebook.com/lamps">` + icon("1.png") + `</a><td><a href="https://x.com/lamps">` + icon("2.png") + "</a></table>", "p([Facebook]1 · [x.com]2)"},
		"an icon to a strange host":                {`<a href="https://.com/">` + icon("1.png") + `</a><p>Hello`, "p([.com]1) p(Hello)"},
		"stars":                                    {"<p>Rated " + photo(`alt="★★★★☆"`), "p(Rated ★★★★☆)"},
		"a code in an image":                       {photo(`alt="4821 9930"`) + "<p>Your code", "p(4821 9930) p(Your code)"},
	})
}
