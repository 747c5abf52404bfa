package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describe lists what the default clients lack, as "slug×places@what is there: clients".
func describe(source string, names ...string) []string {
	if names == nil {
		names = Default
	}
	var all []string
	for _, u := range Find(source, names) {
		all = append(all, fmt.Sprintf("%s×%d@%s", u.Slug, u.Places, source[u.Offset:min(len(source), u.Offset+8)]))
	}
	slices.Sort(all)
	return all
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, html, want string
	}{
		{"nothing", `<p style="color:red">x</p>`, ""},
		{"a property in a style attribute", `<p>x<b style="border-radius:4px">y</b><b style="border-radius:4px">y</b>`, "css-border-radius×2@<b style"},
		{"and in a rule, once", `<style>.a, b {border-radius: 4px}</style><b class="a" style="border-radius:2px">x</b><b>y</b>`, "css-border-radius×2@.a, b {b html-style×1@<style>."},
		{"a rule for nothing", `<style>.a{border-radius:4px}</style><b>x</b>`, "html-style×1@<style>."},
		{"one that another overrides", `<style>b.a{border-radius:0!important}</style><b class="a" style="border-radius:4px">x</b>`, "css-important×1@b.a{bord html-style×1@<style>b"},
		{"values that change nothing", `<p style="float:none;opacity:1;box-shadow:none;max-width:100%;position:static;outline:0">x</p>`, ""},
		{"values that matter", `<p style="opacity:0;margin-top:-4px;max-height:0">x</p>`, "css-margin×1@<p style css-max-height×1@<p style css-opacity×1@<p style"},
		{"text that is no style", `<p title="display:flex">display:flex; <!-- <video> --></p>`, ""},
		{"flex", `<div style="display:flex;gap:4px"></div>`, "css-display-flex×1@<div sty css-gap×1@<div sty css-gap×1@<div sty"},
		{"elements and attributes", `<video src="x"></video><p hidden>x</p><img src="a.webp?1"><img src="data:image/png;base64,AA">`, "html-hidden×1@<p hidde html-video×1@<video s image-base64×1@<img src image-webp×1@<img src"},
		{"forms", `<form><input type="checkbox"></form>`, "html-form×1@<form><i html-input-checkbox×1@<input t"},
		{"width of what Outlook does not size", `<table width=10 style="width:10px"><tr><td style="width:9px">x</table><div style="width:10px">y</div>`, "css-width×1@<div sty"},
		{"@media, where its rules apply", `<style>@media (max-width:600px) { .a {width:100%!important} .b {height: 3px} }</style><p class="a">x<p class="a">y`,
			"css-at-media×2@.a {widt html-style×1@<style>@"},
		{"@font-face and @import", `<style>@import url('https://x.example/a?1;2@3,4');@font-face{font-family:a;src:url(x)}</style>`, "css-at-font-face×1@@font-fa css-at-import×1@@import  html-style×1@<style>@"},
		{"pseudo-classes of what is there", `<style>a:hover{color:red} .b:hover{color:red} p:not(.x) i::before{content:"x"}</style><a href="https://x.example/">x</a><p><i>y</i>`,
			"css-pseudo-class-hover×1@a:hover{ css-pseudo-class-not×1@p:not(.x css-pseudo-element-before×1@p:not(.x html-style×1@<style>a"},
		{"hacks for one client", `<style>u + .body .a{color:red} [data-ogsc] .a{color:red} #outlook a{padding:0}</style><p class="a">x`, "html-style×1@<style>u"},
		{"comments of CSS", "<style>/* .a{border-radius:1px} */\r\n<!-- .a{border-radius:2px} --></style><p class=a>x", "css-border-radius×1@.a{borde html-style×1@<style>/"},
		{"a noscript", `<noscript><b style="border-radius:4px">x</b></noscript>`, "css-border-radius×1@<b style"},
		{"variables and units", `<p style="width:calc(1px + 2px);height:10vh;color:var(--a)">`, "css-height×1@<p style css-height×1@<p style css-unit-calc×1@<p style css-unit-vh×1@<p style css-variables×1@<p style css-width×1@<p style"},
		{"!important without a space", `<style>p{color:red!important} b{color:red !important}</style><p><b>x</b>`, "css-important×1@p{color: html-style×1@<style>p"},
		{"tags in capitals", `<STYLE>P{BORDER-RADIUS:1PX}</STYLE><P>x`, "css-border-radius×1@P{BORDER html-style×1@<STYLE>P"},
		{"an end without a beginning", `</p><b/style="border-radius:4px">x`, "css-border-radius×1@<b/style"},
	} {
		got := strings.Join(describe(c.html), " ")
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func gapsOf(t *testing.T, source, slug string, names ...string) string {
	t.Helper()
	for _, u := range Find(source, names) {
		if u.Slug == slug {
			var ids []string
			for _, g := range u.Gaps {
				ids = append(ids, g.ID)
			}
			return strings.Join(ids, " ")
		}
	}
	return ""
}

func TestWhoLacksIt(t *testing.T) {
	const rounded = `<b style="border-radius:4px">x</b>`
	for _, c := range []struct{ html, slug, names, want string }{
		{rounded, "css-border-radius", "outlook gmail yahoo", "outlook-windows"},
		{rounded, "css-border-radius", "gmail", ""},
		{rounded, "css-border-radius", "gmx-web outlook-windows", "gmx-web outlook-windows"},
		{`<b style="border-radius:4px / 2px">x</b>`, "css-border-radius", "yahoo", "yahoo-android yahoo-ios yahoo-web"},
		{`<!--[if !mso]><!-->` + rounded + `<!--<![endif]-->`, "css-border-radius", "outlook", ""},
		{`<!--[if !mso]><!-->` + rounded + `<!--<![endif]-->` + rounded, "css-border-radius", "outlook", "outlook-windows"},
		{`<style>@media screen { b {border-radius: 4px} }</style><b>x</b>`, "css-border-radius", "outlook gmx-web", "gmx-web"},
		{`<style>@media screen { b {border-radius: 4px} }</style><b>x</b>`, "css-at-media", "outlook-windows", "outlook-windows"},
		{`<p style="display:flex">x</p>`, "css-display-flex", "outlook gmail", "outlook-windows gmail-android gmail-ios"},
	} {
		if got := gapsOf(t, c.html, c.slug, strings.Fields(c.names)...); got != c.want {
			t.Errorf("%s for %s: %q, want %q", c.html, c.names, got, c.want)
		}
	}
}

// TestTable parses what is parsed at first use.
func TestTable(t *testing.T) {
	table := parsed()
	if len(Data()) < len("2026-06-29 abcdefg") || len(table.ids) < 40 || table.rules < 250 || table.media == nil {
		t.Errorf("data of %q, %d clients, %d rules", Data(), len(table.ids), table.rules)
	}
	for _, name := range Default {
		if !slices.Contains(Names(), name) {
			t.Errorf("there is no %s", name)
		}
	}
	all := slices.Concat(table.elements, table.selected, table.at)
	for _, rules := range table.declared {
		all = append(all, rules...)
	}
	for _, r := range all {
		if r.selector != nil && r.selector() == nil {
			t.Errorf("%s: its selector cannot be parsed", r.Slug)
		}
		if r.pattern != nil {
			r.pattern()
		}
		for _, g := range table.parseGaps(r) {
			if g.Client == nil || g.Version == "" {
				t.Errorf("%s: %+v", r.Slug, g)
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{`<style>@media (x) {a:hover > b{gap:1px}}</style><a style="margin:-1px"><b>`, "<style>a{}</style><!--[if !mso]>", "<a/style='x:y'", "<noscript><style>@import 'x';</noscript>", "<style>/*", "<A\x00>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, u := range Find(source, Default) {
			if u.Offset < 0 || u.Offset >= len(source) || u.Places < 1 || len(u.Gaps) == 0 {
				t.Errorf("%+v", u)
			}
		}
	})
}

// BenchmarkGreedy finds what bodies of 5 MB lack that are made to waste time.
func BenchmarkGreedy(b *testing.B) {
	const size = 5 << 20
	long := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var sheet strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&sheet, ".a%d:hover > b[c]{margin:-%dpx;color:rgb(1 2 3)}", i, i)
	}
	for name, source := range map[string]string{
		"elements": long(`<p hidden style="margin:-1px;gap:1px">x`), "styles": "<style>" + sheet.String() + "</style>" + long(`<b class="a1 a2 a3" c>x</b>`),
		"values": `<p style="` + long("margin:calc(1px 2px 3px);") + `">x</p>`, "rule": "<style>b{" + strings.Repeat("margin:-1px;", 200) + "}</style>" + long("<b>x</b>"),
		"tables": long(`<table align=left><div style="display:none">`), "media": "<style>" + strings.Repeat("@media a{", 100_000) + "</style>" + long("<i>x</i>"),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Find(source, Default)
			}
		})
	}
}
