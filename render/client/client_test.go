package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describe lists what clients lack, as "title×places@what is there".
func describe(source string, names ...string) string {
	if names == nil {
		names = Default
	}
	var all []string
	for _, u := range Find(source, names) {
		all = append(all, fmt.Sprintf("%s×%d@%s", u.Title, u.Places, source[u.Offset:min(len(source), u.Offset+8)]))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, html, want string
	}{
		{"nothing", `<p style="color:red">x</p>`, ""},
		{"a property in a style attribute", `<p>x<b style="border-radius:4px">y</b><b style="border-radius:4px">y</b>`, "border-radius×2@<b style"},
		{"and in a rule, once", `<style>.a, b {border-radius: 4px}</style><b class="a" style="border-radius:2px">x</b><b>y</b>`, "<style>×1@<style>. border-radius×2@.a, b {b"},
		{"a rule for nothing", `<style>.a{border-radius:4px}</style><b>x</b>`, "<style>×1@<style>."},
		{"one that another overrides", `<style>b.a{border-radius:0!important}</style><b class="a" style="border-radius:4px">x</b>`, "!important×1@b.a{bord <style>×1@<style>b"},
		{"values that change nothing", `<p style="float:none;opacity:1;box-shadow:none;max-width:100%;position:static;outline:0">x</p>`, ""},
		{"values that matter", `<p style="opacity:0;margin-top:-4px;max-height:0">x</p>`, "margin×1@<p style max-height×1@<p style opacity×1@<p style"},
		{"text that is no style", `<p title="display:flex">display:flex; <!-- <video> --></p>`, ""},
		{"flex", `<div style="display:flex;gap:4px"></div>`, "display:flex×1@<div sty gap×1@<div sty gap×1@<div sty"},
		{"elements and attributes", `<video src="x"></video><p hidden>x</p><img src="a.webp?1"><img src="data:image/png;base64,AA">`, "<video>×1@<video s <video>×1@<video s Base 64 image format×1@<img src hidden×1@<p hidde webP image format×1@<img src"},
		{"forms", `<form><input type="checkbox"></form>`, `<form>×1@<form><i <input type="checkbox">×1@<input t`},
		{"width of what Outlook does not size", `<table width=10 style="width:10px"><tr><td style="width:9px">x</table><div style="width:10px">y</div>`, "width×1@<div sty"},
		{"@media, where its rules apply", `<style>@media (max-width:600px) { .a {border-radius:4px} .b {outline:1px} }</style><p class="a">x<p class="a">y`,
			"<style>×1@<style>@ @media×2@.a {bord"},
		{"what not only @media has, which Outlook for Windows ignores", `<style>.b{border-radius:2px} @media (max-width:600px) { .a {border-radius:4px} }</style><p class="a">x<p class="b">y`,
			"<style>×1@<style>. @media×1@.a {bord border-radius×2@.b{borde"},
		{"@font-face and @import", `<style>@import url('https://x.example/a?1;2@3,4');@font-face{font-family:a;src:url(x)}</style>`, "<style>×1@<style>@ @font-face×1@@font-fa @import×1@@import "},
		{"pseudo-classes of what is there", `<style>a:hover{color:red} .b:hover{color:red} p:not(.x) i::before{content:"x"}</style><a href="https://x.example/">x</a><p><i>y</i>`,
			"::before×1@p:not(.x :hover×1@a:hover{ :not×1@p:not(.x <style>×1@<style>a"},
		{"hacks for one client", `<style>u + .body .a{color:red} [data-ogsc] .a{color:red} #outlook a{padding:0}</style><p class="a">x`, "<style>×1@<style>u"},
		{"comments of CSS", "<style>/* .a{border-radius:1px} */\n<!-- .a{border-radius:2px} --></style><p class=a>x", "<style>×1@<style>/ border-radius×1@.a{borde"},
		{"a noscript", `<noscript><b style="border-radius:4px">x</b></noscript>`, "border-radius×1@<b style"},
		{"variables and units", `<p style="width:calc(1px + 2px);margin:10vh;color:var(--a)">`, "CSS Variables (Custom Properties)×1@<p style CSS calc() function×1@<p style vh unit×1@<p style width×1@<p style"},
		{"!important without a space", `<style>p{color:red!important} b{color:red !important}</style><p><b>x</b>`, "!important×1@p{color: <style>×1@<style>p"},
		{"tags in capitals", `<STYLE>P{BORDER-RADIUS:1PX}</STYLE><P>x`, "<style>×1@<STYLE>P border-radius×1@P{BORDER"},
		{"an end without a beginning", `</p><b/style="border-radius:4px">x`, "border-radius×1@<b/style"},
		{"a place that lies", `<b mayfly-at=99 style="border-radius:4px">x`, "border-radius×1@<b mayfl"},
	} {
		if got := describe(c.html); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestWhoLacksIt(t *testing.T) {
	const rounded = `<b style="border-radius:4px">x</b>`
	for _, c := range []struct{ html, title, names, want, words string }{
		{rounded, "border-radius", "outlook gmail yahoo", "outlook-windows no", "Outlook for Windows"},
		{rounded, "border-radius", "gmail", "", ""},
		{rounded, "border-radius", "gmx-web outlook-windows", "gmx-web no outlook-windows no", "GMX for the web, Outlook for Windows"},
		{`<b style="border-radius:4px / 2px">x</b>`, "border-radius", "yahoo", "yahoo-android no yahoo-web no yahoo-ios no", "Yahoo"},
		{`<p style="display:flex">x</p>`, "display:flex", "outlook gmail", "outlook-windows no gmail-android partly gmail-ios partly", "Outlook for Windows"},
		{`<p style="display:flex">x</p>`, "display:flex", "gmail outlook", "outlook-windows no gmail-android partly gmail-ios partly", "Outlook for Windows"},
	} {
		got, words := []string{}, ""
		for _, u := range Find(c.html, strings.Fields(c.names)) {
			if u.Title == c.title {
				words = Families(u.Gaps, "no")
				for _, g := range u.Gaps {
					got = append(got, g.Client, g.Support)
				}
			}
		}
		if got := strings.Join(got, " "); got != c.want || words != c.words {
			t.Errorf("%s for %s: %q, %q, want %q, %q", c.html, c.names, got, words, c.want, c.words)
		}
	}
}

// TestTable parses what is parsed at first use.
func TestTable(t *testing.T) {
	table := parsed()
	if len(Data()) < len("2026-06-29 abcdefg") || len(table.clients) < 40 || len(table.rules) < 250 {
		t.Errorf("data of %q, %d clients, %d rules", Data(), len(table.clients), len(table.rules))
	}
	for _, name := range Default {
		if !slices.Contains(Names(), name) {
			t.Errorf("there is no %s", name)
		}
	}
	for _, rules := range table.rules {
		for _, r := range rules {
			if r.selector != nil {
				r.selector()
			}
			if r.pattern != nil {
				r.pattern()
			}
			for _, g := range r.missing(Names()) {
				if table.clients[g.Client] == [2]string{} || g.Version == "" || r.Title == "" {
					t.Errorf("%s: %+v", r.Title, g)
				}
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
			if u.Offset < 0 || u.Offset > len(source) || u.Places < 1 || len(u.Gaps) == 0 {
				t.Errorf("%+v", u)
			}
		}
	})
}
