package html

import (
	"fmt"
	"strings"
	"testing"

	"mayfly/render/doc"
)

// boxMark returns how the first leaf with MARK is told apart, the outermost mark first.
func boxMark(blocks []*doc.Block) (marks string, found bool) {
	for _, b := range blocks {
		if len(b.Spans) > 0 && strings.Contains(b.Text(), "MARK") {
			switch {
			case b.Hue.Set:
				return "frame ", true
			case b.Spans[0].Style.Background.Set:
				return "badge ", true
			}
			return "", true
		}
		if in, ok := boxMark(b.Children); ok {
			switch {
			case b.Kind == doc.Section && b.Hue.Set:
				in = "bar " + in
			case b.Kind == doc.Section:
				in = "band " + in
			case b.Background.Set:
				in = kinds[b.Kind] + " " + in
			}
			return in, true
		}
	}
	return "", false
}

// boxesOf are ways to write a box that looks as some CSS says, by what is special about each.
func boxesOf(css string) map[string]string {
	all := map[string]string{}
	for _, text := range []string{"MARK it.", "MARK it now, Ada", "MARK it now, or at least before the end of the next month, as it will be gone by then, and nobody knows when the next one comes."} {
		for _, content := range []string{text, "<p>" + text + "</p>", "<p>" + text + "</p><p>And do not forget.</p>"} {
			padded := `<div style="padding:16px">` + content + `</div>`
			for _, width := range []string{`style="`, `style="width:100%;`, `style="width:600px;`, `style="max-width:600px;`, `width="600" style="`} {
				name := content + " " + width
				if !strings.HasPrefix(width, "width=") {
					all[name+" div"] = `<div ` + width + css + `;padding:16px">` + content + `</div>`
					all[name+" div in div"] = `<div ` + width + css + `">` + padded + `</div>`
					all[name+" empty divs"] = `<div ` + width + css + `"><div style="height:16px"></div><div style="padding:0 16px">` + content + `</div><div style="height:16px"></div></div>`
				}
				if width = `<table cellspacing=0 ` + width; !strings.Contains(width, ` width`) && !strings.Contains(width, `"width`) {
					width = strings.Replace(width, `style`, `width="100%" style`, 1)
				}
				all[name+" td"] = width + `"><tr><td style="` + css + `;padding:16px">` + content + `</table>`
				all[name+" table"] = width + css + `"><tr><td style="padding:16px">` + content + `</table>`
				all[name+" empty rows"] = width + css + `"><tr><td height=16><tr><td style="padding:0 16px">` + content + `<tr><td height=16></table>`
				all[name+" empty columns"] = width + css + `"><tr><td width=16>&nbsp;<td style="padding:16px 0">` + content + `<td width=16>&nbsp;</table>`
				all[name+" td in td"] = `<table width="100%" cellspacing=0><tr><td align=center>` + width + `"><tr><td style="` + css + `">` + padded + `</table></table>`
			}
		}
	}
	return all
}

const textAround = `<p>Some text that is above it on the page, and as long as such texts are.</p><p>Some more of the same text, which is as long.</p><p>And the last of it.</p>`

// TestBoxesThatLookAlike checks that boxes are marked by how they look, not by how they are written.
func TestBoxesThatLookAlike(t *testing.T) {
	for where, page := range map[string]struct{ html, around string }{
		"on the page":  {textAround + "%s" + textAround, ""},
		"on a sheet":   {`<body bgcolor="#eeeeee"><table width="600" bgcolor="#ffffff"><tr><td style="padding:30px">` + textAround + "%s" + textAround + `</table>`, ""},
		"in a card":    {textAround + `<div style="border:1px solid #ccc;padding:20px"><p>A card</p>%s<p>and more</p></div>` + textAround, "bar "},
		"beside one":   {textAround + `<table width=600><tr><td width=290>%[1]s<td width=20><td width=290>%[1]s</table>` + textAround, ""},
		"above others": {textAround + "%[1]s%[1]s" + textAround, ""},
	} {
		for look, want := range map[string]string{
			"background:#226622;color:#fff":                     "band ",
			"background:#ffcc00":                                "band ",
			"background:#f4f4f4":                                "bar ",
			"background:#fff3cd":                                "bar ",
			"border:1px solid #ccc":                             "bar ",
			"background:#fff;border:1px solid #e5e5e5":          "bar ",
			"background:#fdecea;border-left:4px solid #cc0000":  "bar ",
			"border-left:4px solid #cc0000":                     "bar ",
			"background:#333;color:#fff;border:1px solid black": "band ",
		} {
			for how, box := range boxesOf(look) {
				if got, _ := boxMark(Read(fmt.Sprintf(page.html, box)).Blocks); got != page.around+want {
					t.Fatalf("%s, %s, %s: %q, not %q", where, look, how, got, page.around+want)
				}
			}
		}
	}
}

// TestStrongerFills checks that no fill is less marked than a weaker one.
func TestStrongerFills(t *testing.T) {
	rank, last := map[string]int{"": 0, "bar ": 1, "band ": 2}, 0
	for grey := 255; grey >= 0; grey-- {
		mark, _ := boxMark(Read(fmt.Sprintf(textAround+`<div style="background:rgb(%d,%[1]d,%[1]d);color:red;padding:9px">MARK</div>`+textAround, grey)).Blocks)
		if rank[mark] < last {
			t.Errorf("%d: %q", grey, mark)
		}
		last = rank[mark]
	}
	if last != 2 {
		t.Error("black is no band")
	}
}

// TestBoxes has boxes that are marked otherwise, or not at all.
func TestBoxes(t *testing.T) {
	page := func(box string) string { return textAround + box + textAround }
	sheet := func(box string) string {
		return `<body bgcolor="#eeeeee"><table width=600 bgcolor="#ffffff"><tr><td style="padding:30px">` + textAround + box + `</table>`
	}
	for name, c := range map[string]struct{ html, want string }{
		"all of the mail":            {`<div style="background:#eee;padding:20px">MARK</div>`, ""},
		"a sheet":                    {sheet("MARK"), ""},
		"a foot":                     {sheet(`<tr><td style="background:#f6f8fa;padding:20px">MARK`), ""},
		"a pale tile":                {sheet(`<div style="background:#f9fafb;padding:20px">MARK</div>`), "bar "},
		"tags in a line":             {page(`<table width=600><tr><td>Build 14<table><tr><td><table><tr><td bgcolor="#eee">slow</table><td><table><tr><td bgcolor="#eee">MARK</table></table><td>Failed</table>`), "badge "},
		"a logo on a band":           {page(`<div style="background:#226622"><img src="a.png" alt="MARK" width=120 height=40></div>`), "band "},
		"a strip of the page":        {sheet(`<tr><td style="background:#eee;padding:20px">MARK`), ""},
		"a badge":                    {page(`<div style="background:#fff3cd;width:90px">MARK</div>`), "badge "},
		"a strong badge":             {page(`<div style="background:#226622;width:90px">MARK</div>`), "badge "},
		"a table as wide as a badge": {page(`<table><tr><td style="background:#fff3cd">MARK</table>`), "badge "},
		"a framed word":              {page(`<table><tr><td style="border:1px solid red">MARK</table>`), "frame "},
		"a head":                     {page(`<table width=600><tr bgcolor="#eee"><td>Name<td>MARK<tr><td>Tea<td>2</table>`), "row "},
		"a head on a sheet":          {`<body bgcolor="#f7f5f1"><table width=600 bgcolor="#ffffff"><thead style="background:#fff3cd"><tr><th>Name<th>MARK<tbody><tr><td>Tea<td>2<tr><td>Cocoa<td>3</table>`, "row "},
		"a head in a card":           {page(`<table width=600 style="border:1px solid #ccc"><tr bgcolor="#eee"><td>Name<td>MARK<tr><td>Tea<td>2</table>`), "bar row "},
		"a cell":                     {page(`<table width=600><tr><td>Build 14<td bgcolor="#eee">MARK<br>it</table>`), "cell "},
		"a title in a table":         {page(`<table width=600><tr><td>Name<td>Price<tr><td colspan=2 bgcolor="#eee">MARK<tr><td>Tea<td>2</table>`), "row "},
		"a title of a table":         {page(`<table width=600><tr><td colspan=2 bgcolor="#eee">MARK<tr><td>Tea<td>2</table>`), "row "},
		"cells with borders":         {page(`<table cellspacing=0><tr><td style="border:1px solid">Tea<td style="border:1px solid">MARK</table>`), ""},
		"at the edge of one":         {page(`<div style="border:1px solid #ccc"><div style="background:#eee"><p>MARK</p></div><p>More</p></div>`), "bar "},
		"all of one":                 {page(`<div style="border:1px solid #ccc;padding:9px"><div style="background:#eee"><p>MARK</p></div></div>`), "bar "},
		"two edges from one":         {page(`<div style="border:1px solid #ccc"><p>One</p><div style="border:1px solid #ccc;padding:0 5px"><p>Two</p><div style="border:1px solid #ccc;padding:5px"><div style="border:1px solid #ccc"><p>MARK</p></div></div></div></div>`), "bar "},
		"a tint on a row":            {page(`<table width=600><tr><td>Result<td>Test<tr bgcolor="#ff5533"><td>FAILED<td><p>Pay</p><pre style="background:#ffcccc;padding:9px">MARK</pre></table>`), "row band "},
		"paper on a band":            {page(`<div style="background:#226622"><div style="background:#fff">MARK</div><p>More</p></div>`), ""},
	} {
		if got, _ := boxMark(Read(c.html).Blocks); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
