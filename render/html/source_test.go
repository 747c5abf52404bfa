package html

import (
	"strings"
	"testing"
)

// TestLimit: what is left of sources that make too large, too deep or too expensive a tree.
func TestLimit(t *testing.T) {
	r := strings.Repeat
	for name, c := range map[string]struct{ source, want string }{
		"nothing":              {"", ""},
		"what mails are like":  {`<!DOCTYPE html><p style="a:b" class=c>x < y & z <!-- c --><br/><a href='#'>l</a></p>`, ""},
		"brackets at the end":  {"a<", ""},
		"an open tag":          {"a<p b", ""},
		"an open value":        {`a<p b="c`, ""},
		"an end in a value":    {`<p title=">" id=i>x`, ""},
		"attributes":           {`<p` + r(" a", maxAttrs+9) + `>x<p b>`, `<p` + r(" a", maxAttrs) + ` >x<p b>`},
		"attributes, open":     {`<p` + r(" a", maxAttrs+9), `<p` + r(" a", maxAttrs) + ` `},
		"an open comment":      {`a<!--` + r("<p>", maxCost), ""},
		"comments for nobody":  {`a<!-->b<!--->c`, ""},
		"tags":                 {r("<p>", maxCost), r("<p>", maxCost/2+1)},
		"tags with attributes": {r("<p"+r(" a", 50)+">", maxCost/50), r("<p"+r(" a", 50)+">", maxCost/52+1)},
		"tags in a script":     {"<script>" + r("<p>", maxCost) + "</script>x", ""},
		"closed bold":          {r("<b>x</b><p>", 1000), ""},
		"bold in comments":     {r("<!--<b>-->", 2000) + r("<p>", 1000), ""},
		"unclosed bold":        {r("<b>", maxOpen+9) + r("<p>", 1000), r("<b>", maxOpen) + r("<p>", 1000)},
		"a text":               {`<p>` + r("x", maxText+9) + `<p>y`, `<p>` + r("x", maxText) + `<p>y`},
		"a title":              {`<TITLE>a</TITLE>b`, ""},
		"titles without ends":  {`<title>a<title>b`, "ab"},
		"surplus and too deep": {r("<div>", maxDepth) + `<div` + r(" a", maxAttrs+9) + `>x`, r("<div>", maxDepth) + `<div` + r(" a", maxAttrs) + ` >x`},
		"nested":               {r("<div>", maxDepth) + "x" + r("</div>", maxDepth), ""},
		"nested too deep":      {r("<div>", maxDepth+9) + "x" + r("</div>", maxDepth+9), r("<div>", maxDepth) + "x" + r("</div>", maxDepth)},
	} {
		if c.want == "" {
			c.want = c.source
		}
		if got := limit(c.source).html; got != c.want {
			t.Errorf("%s: %d bytes are left, want %d: %.200q", name, len(got), len(c.want), got)
		}
	}
}

func TestBeyondTheParser(t *testing.T) {
	if d := Read("<script>no</script>" + strings.Repeat("<x>", 600) + "deep"); strings.TrimSpace(d.Text()) != "deep" || d.Simplified == "" {
		t.Errorf("%q is shown of what the parser refuses, %q", d.Text(), d.Simplified)
	}
	if d := Read(strings.Repeat("<x>", 600) + `<link href=a><meta name=b>shown<video><source src=c>too</video>`); !strings.Contains(d.Text(), "shown") || !strings.Contains(d.Text(), "too") {
		t.Errorf("%q is shown of what follows elements without text", d.Text())
	}
	long := strings.Repeat("A", maxHref+1)
	d := Read(`<img width=90 height=90 alt="` + long + `" src="data:image/png;base64,` + long + `"><a href="https://a.example/` + long + `">a</a>`)
	if len(d.Images) != 1 || !strings.HasSuffix(d.Images[0].Src, long) || len(d.Images[0].Alt) != maxValue || len(d.Links) != 0 {
		t.Error("an image loses its data, or its text or a link is not bounded")
	}
}
