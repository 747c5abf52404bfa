package html

import (
	"strings"
	"testing"

	"mayfly/render/html/css"
)

func TestLimit(t *testing.T) {
	r := strings.Repeat
	long := r("x", maxValue+1)
	for name, c := range map[string]struct{ source, want string }{
		"nothing":             {"", ""},
		"what mails are like": {`<!DOCTYPE html><p style="a:b" class=c>x < y & z <!-- c --><br/><a href='#'>l</a></p>`, `<!DOCTYPE html><p style="a:b" class=c>x < y & z <!-- c --><br/><a href='#'>l</a></p>`},
		"brackets at the end": {"a<", "a<"},
		"an open tag":         {"a<p b", "a<p b"},
		"an open value":       {`a<p b="c`, `a<p b="c`},
		"a long value":        {`<p title="` + long + `" id=i>`, `<p title="` + long[1:] + `" id=i>`},
		"a long bare value":   {`<p title=` + long + ` id=i>`, `<p title=` + long[1:] + ` id=i>`},
		"a long key":          {`<p ` + long + `=v id=i>`, `<p  id=i>`},
		"an end in a value":   {`<p title="` + long + `>" id=i>x`, `<p title="` + long[1:] + `" id=i>x`},
		"an image":            {`<img src="` + long + `" alt=a>`, `<img src="mayfly:0" alt=a>`},
		"images":              {`<img src="` + long + `"><img SRC='` + long + `'>`, `<img src="mayfly:0"><img SRC='mayfly:1'>`},
		"a long target":       {`<a href="` + long + `">`, `<a href="` + long + `">`},
		"too long a target":   {`<a href="` + r("x", maxHref+1) + `" id=i>t</a>`, `<a  id=i>t</a>`},
		"attributes":          {`<p` + r(" a", maxAttrs+9) + `>x<p b>`, `<p` + r(" a", maxAttrs) + ` >x<p b>`},
		"attributes, open":    {`<p` + r(" a", maxAttrs+9), `<p` + r(" a", maxAttrs) + ` `},
		"a comment":           {`a<!--` + long + `-->b`, `ab`},
		"an open comment":     {`a<!--` + long, `a`},
		"comments for nobody": {`a<!-->b<!--->c`, `a<!-->b<!--->c`},
		"a declaration":       {`a<!` + long + `>b`, `ab`},
		"an instruction":      {`a<?xml ?>b`, `a<?xml ?>b`},
		"a script":            {`<script>` + long + `</b></script>x`, `<script></script>x`},
		"an open script":      {`<script>` + long, `<script>`},
		"a style":             {`<style>` + long + `</STYLE>x`, `<style>` + long + `</STYLE>x`},
		"too long a style":    {`<style>` + r("x", css.MaxSheet+9) + `</style>x`, `<style>` + r("x", css.MaxSheet) + `</style>x`},
		"a title":             {`<title>` + r("x", maxTitle+9) + `</title>`, `<title>` + r("x", maxTitle) + `</title>`},
		"a text":              {`<p>` + r("x", maxText+9) + `<p>y`, `<p>` + r("x", maxText) + ` <p>y`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := limit(c.source).html; got != c.want {
				t.Errorf("%.200q, want %.200q", got, c.want)
			}
		})
	}
}

func TestSetAside(t *testing.T) {
	long := "data:image/png;base64," + strings.Repeat("A", maxValue) + "&amp;"
	s := limit(`<img src="` + long + `">`)
	for value, want := range map[string]string{
		"mayfly:0": long[:len(long)-len("amp;")], "mayfly:1": "mayfly:1", "mayfly:-1": "mayfly:-1", "mayfly:x": "mayfly:x", "x": "x",
	} {
		if got := s.value(value); got != want {
			t.Errorf("%s: %.80q, want %.80q", value, got, want)
		}
	}
	if d := Read(`<img width=90 height=90 src="` + long + `">`); len(d.Images) != 1 || d.Images[0].Src != long[:len(long)-len("amp;")] {
		t.Error("the image's data are lost")
	}
}

// TestWhatATreeIsMadeOf: a source that makes too large or too expensive a tree is cut.
func TestWhatATreeIsMadeOf(t *testing.T) {
	r := strings.Repeat
	for name, c := range map[string]struct {
		source string
		whole  bool
	}{
		"a mail":           {r("<p>text</p>", 1000), true},
		"tags":             {r("<p>", maxCost/2+2), false},
		"attributes":       {r("<p"+r(" a", 50)+">", maxCost/52+2), false},
		"long":             {r("text <p>", maxTree/8+1), false},
		"a long comment":   {"<!--" + r("x", maxTree+1) + "-->x", true},
		"unclosed bold":    {r("<b>", 1000) + r("<p>", maxCost/10), false},
		"closed bold":      {r("<b>x</b><p>", 1000), true},
		"bold in comments": {r("<!--<b>-->", 2000) + r("<p>", 1000), true},
		"nested":           {r("<div>", maxDepth) + "x" + r("</div>", maxDepth), true},
		"nested too deep":  {r("<div>", maxDepth+1) + "x" + r("</div>", maxDepth+1), false},
	} {
		if got := limit(c.source); (got.html == c.source) != (c.whole && name != "a long comment") || (got.lost == "") != c.whole {
			t.Errorf("%s: %d of %d bytes are left: %q", name, len(got.html), len(c.source), got.lost)
		}
	}
	if d := Read(r("<x>", 600) + "deep"); d.Text() != "deep" || d.Simplified == "" {
		t.Errorf("%q is shown of what the parser refuses, %q", d.Text(), d.Simplified)
	}
}
