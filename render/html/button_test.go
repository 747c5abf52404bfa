package html

import (
	"strings"
	"testing"
)

// cell is a table of one cell.
func cell(attrs, in string) string {
	return `<table cellpadding=0 cellspacing=0><tr><td ` + attrs + `>` + in + `</td></tr></table>`
}

// TestButtonsOfMailBuilders holds the shapes in which buttons are written: by hand and by the tools
// that mail is made with. Most draw the box anywhere but at the link.
func TestButtonsOfMailBuilders(t *testing.T) {
	const href = `href="https://a.example/"`
	checkBlocks(t, map[string]struct{ html, want string }{
		"a padded link":                 {`<a ` + href + ` style="display:inline-block;background:#0a6;color:#fff;padding:12px 24px">Start now</a>`, "p(<Start now>1)"},
		"padding made of borders":       {`<a ` + href + ` style="background-color:#3869d4;border-top:10px solid #3869d4;border-right:18px solid #3869d4;border-bottom:10px solid #3869d4;border-left:18px solid #3869d4;display:inline-block;color:#fff">Start now</a>`, "p(<Start now>1)"},
		"a cell with a bordered link":   {cell(`bgcolor="#e9703e" style="border-radius:3px"`, `<a `+href+` style="color:#fff;padding:12px 18px;border:1px solid #e9703e;display:inline-block">Start now</a>`), "p(<Start now>1)"},
		"Foundation":                    {`<table class=button><tr><td>` + cell(`style="background:#2199e8;border:2px solid #2199e8"`, `<a `+href+` style="border:0 solid #2199e8;border-radius:3px;color:#fefefe;display:inline-block;padding:8px 16px">Start now</a>`) + `</td></tr></table>`, "p(<Start now>1)"},
		"Foundation, expanded":          {`<table class="button expand" style="width:100%"><tr><td>` + `<table style="width:100%"><tr><td style="background:#2199e8;border:2px solid #2199e8"><center><a ` + href + ` style="border:0 solid #2199e8;color:#fefefe;display:inline-block;padding:8px 16px;width:100%">Start now</a></center></td></tr></table></td><td class=expander style="width:0;padding:0"></td></tr></table>`, "p(<Start now>1)"},
		"Mailchimp":                     {`<table border=0 width="100%"><tr><td style="padding:0 18px 18px" align=center><table class=mcnButtonContentContainer style="border-collapse:separate!important;border-radius:3px;background-color:#2baadf"><tr><td align=center class=mcnButtonContent style="font-family:Arial;font-size:16px;padding:15px"><a class="mcnButton " title="Start now" ` + href + ` style="font-weight:bold;line-height:100%;text-decoration:none;color:#fff">Start now</a></td></tr></table></td></tr></table>`, "p(<Start now>1)"},
		"MJML":                          {`<table width="100%"><tr><td align=center style="padding:10px 25px;word-break:break-word"><table role=presentation style="border-collapse:separate;line-height:100%"><tr><td align=center bgcolor="#414141" role=presentation style="border:none;border-radius:3px;cursor:auto;mso-padding-alt:10px 25px;background:#414141" valign=middle><a ` + href + ` style="display:inline-block;background:#414141;color:#fff;margin:0;text-decoration:none;padding:10px 25px;border-radius:3px" target=_blank> Start now </a></td></tr></table></td></tr></table>`, "p(<Start now>1)"},
		"MJML without a target":         {cell(`align=center bgcolor="#414141" style="border:none;border-radius:3px;cursor:auto;background:#414141"`, `<p style="display:inline-block;background:#414141;color:#fff;font-size:13px;margin:0;padding:10px 25px"> Start now </p>`), "p(<Start now>0)"},
		"MJML, white, without a target": {`<div style="background:#000;color:#fff">` + cell(`align=center bgcolor="#ffffff" style="background:#ffffff"`, `<p style="display:inline-block;background:#ffffff;color:#ffffff;margin:0;padding:10px 25px"><span style="color:#212020">Start now</span></p>`) + `</div>`, "p(<Start now>0)"},
		"react-email":                   {`<a ` + href + ` style="line-height:100%;text-decoration:none;display:inline-block;max-width:100%;mso-padding-alt:0px;background-color:#111;border-radius:6px;color:#fff;padding:12px 20px" target=_blank><span><!--[if mso]><i style="mso-font-width:500%;mso-text-raise:18" hidden>&#8202;&#8202;</i><![endif]--></span><span style="max-width:100%;display:inline-block;line-height:120%;mso-padding-alt:0px;mso-text-raise:9px">Start now</span><span><!--[if mso]><i style="mso-font-width:500%" hidden>&#8202;&#8202;&#8203;</i><![endif]--></span></a>`, "p(<Start now>1)"},
		"Maizzle":                       {`<a ` + href + ` style="display:inline-block;background:#4338ca;color:#fff;padding:16px 24px;text-decoration:none"><!--[if mso]><i style="letter-spacing:24px">&nbsp;</i><![endif]--><span style="mso-text-raise:13px">Start now &rarr;</span><!--[if mso]><i>&nbsp;</i><![endif]--></a>`, "p(<Start now →>1)"},
		"VML beside a link":             {`<div><!--[if mso]><v:roundrect xmlns:v="urn:schemas-microsoft-com:vml" ` + href + ` style="height:40px;width:200px" fillcolor="#556270"><w:anchorlock/><center>Start now</center></v:roundrect><![endif]--><a ` + href + ` style="background-color:#556270;border-radius:4px;color:#fff;display:inline-block;line-height:40px;text-align:center;width:200px;mso-hide:all">Start now</a></div>`, "p(<Start now>1)"},
		"a border and mso-hide":         {`<a ` + href + ` style="border:1px solid #1e3650;border-radius:4px;color:#1e3650;display:inline-block;line-height:40px;text-align:center;width:200px;mso-hide:all">Start now</a>`, "p(<Start now>1)"},
		"a picture behind":              {`<div><a ` + href + ` style="background:url(https://a.example/b.png);display:inline-block;color:#fff;padding:12px 20px">Start now</a></div>`, "p(<Start now>1)"},
		"a gradient":                    {`<a ` + href + ` style="background-image:linear-gradient(90deg,#f60,#c06);display:inline-block;color:#fff;padding:12px 20px">Start now</a>`, "p(<Start now>1)"},
		"a table in a link":             {`<a ` + href + ` style="text-decoration:none"><table bgcolor="#d02040"><tr><td style="padding:12px 20px;color:#fff">Start now</td></tr></table></a>`, "p(<Start now>1)"},
		"a block in a link":             {`<a ` + href + `><div style="background:#d02040;color:#fff;padding:12px 20px">Start now</div></a>`, "p(<Start now>1)"},
		"a span in a link":              {`<a ` + href + `><span style="background:#d02040;color:#fff;padding:12px 20px">Start now</span></a>`, "p(<Start now>1)"},
		"a button in a link":            {`<a ` + href + `><button style="background:#d02040;color:#fff;border:0;padding:12px 20px">Start now</button></a>`, "p(<Start now>1)"},
		"a plain button in a link":      {`<a ` + href + `><button>Start now</button></a>`, "p(<Start now>1)"},
		"a link in a button":            {`<button style="background:#d02040;padding:12px"><a ` + href + ` style="color:#fff">Start now</a></button>`, "p(<Start now>1)"},
		"a button":                      {`<button style="background:#d02040;color:#fff;padding:12px">Start now</button>`, "p(<Start now>0)"},
		"a button without a style":      {`<button type=button>Start now</button>`, "p(<Start now>0)"},
		"a form's button":               {`<form action="https://a.example/"><input type=submit value="Start now"></form>`, "p(<Start now>0)"},
		"role=button":                   {`<a role=button ` + href + ` style="color:#d02040;font-weight:bold">Start now</a>`, "p(<Start now>1)"},
		"a block link":                  {`<a ` + href + ` style="display:block;background:#d02040;color:#fff;padding:14px;text-align:center">Start now</a>`, "p(<Start now>1)"},
		"a block link in a filled cell": {`<table width="100%"><tr><td style="background:#d02040;border-radius:4px"><a ` + href + ` style="display:block;color:#fff;padding:14px;text-align:center">Start now</a></td></tr></table>`, "p(<Start now>1)"},
		"an outline in longhands":       {`<a ` + href + ` style="border-style:solid;border-width:2px;border-color:#d02040;color:#d02040;padding:12px 20px;display:inline-block">Start now</a>`, "p(<Start now>1)"},
		"an outlined cell":              {cell(`style="border-width:2px;border-style:solid;border-color:#d02040;padding:10px 20px"`, `<a `+href+` style="color:#d02040">Start now</a>`), "p(<Start now>1)"},
		"an outlined table":             {`<table style="border:2px solid #d02040;border-radius:4px"><tr><td style="padding:10px 20px"><a ` + href + ` style="color:#d02040">Start now</a></td></tr></table>`, "p(<Start now>1)"},
		"white on a band":               {`<table width="100%" bgcolor="#0044aa"><tr><td>` + cell(`bgcolor="#ffffff" style="padding:10px 20px"`, `<a `+href+` style="color:#0044aa;text-decoration:none">Start now</a>`) + `</td></tr></table>`, "p(<Start now>1)"},
		"white link on a band":          {`<table width="100%" bgcolor="#0044aa"><tr><td><a ` + href + ` style="background:#fff;display:inline-block;padding:10px 20px;color:#0044aa">Start now</a></td></tr></table>`, "p(<Start now>1)"},
		"Stripo":                        {`<span style="border-style:solid;border-color:#2cb543;background:#31cb4b;border-width:0 0 2px 0;display:inline-block;border-radius:30px;width:auto"><a ` + href + ` style="text-decoration:none;color:#fff;font-size:18px;padding:10px 20px;display:inline-block;background:#31cb4b;mso-hide:all">Start now</a></span>`, "p(<Start now>1)"},
		"BEE":                           {`<div align=center><a ` + href + ` style="text-decoration:none" target=_blank><div style="text-decoration:none;display:inline-block;color:#fff;background-color:#3aaee0;border-radius:4px;width:auto;padding-top:5px;padding-bottom:5px;text-align:center"><span style="padding-left:20px;padding-right:20px;font-size:16px;display:inline-block"><span style="word-break:break-word;line-height:32px">Start now</span></span></div></a></div>`, "p(<Start now>1)"},
		"Salesforce":                    {`<table width="100%"><tr><td align=center><table style="border-radius:4px;background-color:#c23934"><tr><td style="padding:13px 20px"><a ` + href + ` style="color:#fff;font-family:Arial;font-size:16px;text-decoration:none" data-linkto="https://">Start now</a></td></tr></table></td></tr></table>`, "p(<Start now>1)"},
		"SendGrid":                      {`<table width="100%" style="table-layout:fixed"><tr><td align=center style="padding:10px"><table><tr><td align=center bgcolor="#333333" style="border-radius:6px;font-size:16px;background-color:inherit"><a ` + href + ` style="background-color:#333333;border:1px solid #333333;border-radius:6px;color:#fff;display:inline-block;padding:12px 18px">Start now</a></td></tr></table></td></tr></table>`, "p(<Start now>1)"},
		"Outlook 365":                   {`<table style="background-color:#0078d4"><tr><td style="padding:8px 16px"><p style="margin:0"><a ` + href + ` style="color:#fff;text-decoration:none"><span style="color:white">Start now</span></a></p></td></tr></table>`, "p(<Start now>1)"},
		"HubSpot":                       {`<table><tr><td style="background-color:#425b76;border-radius:8px;cursor:auto"><a ` + href + ` style="font-size:16px;display:inline-block;border-width:0;padding:12px 18px;background:#425b76;color:#fff"><strong>Start now</strong></a></td></tr></table>`, "p(<Start now>1)"},
		"bold around it":                {cell(`bgcolor="#d02040" style="padding:12px 24px"`, `<b><font color="#ffffff"><a `+href+`><font color="#ffffff">Start now</font></a></font></b>`), "p(<Start now>1)"},
		"a wide cell, a plain link":     {`<table width="100%"><tr><td align=center bgcolor="#d02040" style="padding:14px"><a ` + href + ` style="color:#fff;text-decoration:none;font-weight:bold">Start now</a></td></tr></table>`, "p(<Start now>1)"},
		"a template's cell":             {cell(`bgcolor="#d02040" style="padding:12px 24px"`, `<a href="#" style="color:#fff">Start now</a>`), "p(<Start now>0)"},
		"a template's link":             {`<a style="background:#d02040;color:#fff;padding:12px 24px;display:inline-block">Start now</a>`, "p(<Start now>0)"},
		"a template's placeholder":      {`<a href="{{ url }}" style="background:#d02040;color:#fff;padding:12px 24px;display:inline-block">Start now</a>`, "p(<Start now>1)"},
		"two lines":                     {`<a ` + href + ` style="display:block;background:#d02040;color:#fff;padding:14px"><b>Start now</b><br>free for 14 days</a>`, "p(<Start now\n>1<free for 14 days>1)"},
		"an arrow's image":              {`<a ` + href + ` style="display:inline-block;background:#d02040;color:#fff;padding:14px">Start now <img src="https://a.example/arrow.png" width=8 height=12 alt=""></a>`, "p(<Start now>1)"},
		"two in a cell":                 {`<a ` + href + ` style="display:inline-block;background:#d02040;color:#fff;padding:14px">Yes</a><a href="https://b.example/" style="display:inline-block;background:#d02040;color:#fff;padding:14px">No</a>`, "p(<Yes>1 <No>2)"},
		"two in cells":                  {`<table><tr><td bgcolor="#d02040" style="padding:8px"><a ` + href + ` style="color:#fff">Yes</a></td><td width=10></td><td bgcolor="#203040" style="padding:8px"><a href="https://b.example/" style="color:#fff">No</a></td></tr></table>`, "table(row(cell(p(<Yes>1)) cell(p(<No>2))))"},
	})
}

// TestNoButtons holds what has a fill, a border or padding and is no button.
func TestNoButtons(t *testing.T) {
	const href = `href="https://a.example/"`
	for name, source := range map[string]string{
		"padded links":      `<a ` + href + ` style="padding:0 12px">Men</a><a href="https://b.example/" style="padding:0 12px">Women</a>`,
		"padded cells":      `<table><tr><td style="padding:8px 12px"><a ` + href + `>Men</a></td><td style="padding:8px 12px"><a href="https://b.example/">Women</a></td></tr></table>`,
		"a bar of links":    `<table width="100%" bgcolor="#222222"><tr><td style="padding:8px"><a ` + href + ` style="color:#fff">Men</a></td><td style="padding:8px"><a href="https://b.example/" style="color:#fff">Women</a></td></tr></table>`,
		"a pill":            `Plan: <span style="background:#0a6;color:#fff;padding:2px 8px;border-radius:10px">Active</span>`,
		"a tag":             `<span style="display:inline-block;background:#0a6;color:#fff;padding:4px 8px;font-size:11px">Sale</span>`,
		"a code":            `<div style="background:#f4f4f4;padding:16px 24px;display:inline-block;letter-spacing:4px;font-size:28px">482913</div>`,
		"a coupon":          `<span style="border:2px dashed #d02040;padding:12px 24px;display:inline-block">SPRING20</span>`,
		"a filled text":     cell(`bgcolor="#0044aa" style="padding:20px;color:#fff"`, `Your trial ends on Friday. <a `+href+` style="color:#fff">See plans</a>`),
		"a linked logo":     cell(`bgcolor="#0044aa" style="padding:20px"`, `<a `+href+`><img src="https://a.example/l.png" width=120 height=40 alt="Fernway"></a>`),
		"a footer's link":   `<table width="100%"><tr><td bgcolor="#222222" style="padding:20px;font-size:11px"><a ` + href + ` style="color:#aaa">Unsubscribe</a></td></tr></table>`,
		"a marked word":     `Read the <a ` + href + ` style="background:#ff0">notes</a> first`,
		"a footnote":        `<a ` + href + ` style="border-bottom:1px solid #d02040">Notes</a>`,
		"a framed card":     `<table style="border:1px solid #ddd"><tr><td style="padding:20px">Order 18<br><a ` + href + `>See it</a></td></tr></table>`,
		"a text in a frame": `<div style="border:1px solid #ddd;padding:20px">Paid on Monday</div>`,
		"a linked picture":  `<a ` + href + ` style="border:1px solid #ddd;padding:8px"><img src="https://a.example/p.png" style="border:1px solid #ddd;padding:8px" alt="Fernway"></a>`,
		"a badge":           `Oslo <a title="198.51.100.23" style="display:inline-block;width:12px;background:#ccc">i</a>`,
		"a bordered table":  `<table><tr><td>Job</td><td>State</td></tr><tr><td style="border:1px solid #ddd;padding:8px">web</td><td style="border:1px solid #ddd;padding:8px"><a ` + href + `>Log</a></td></tr></table>`,
		"a band's title":    `<table width=600><tr><td bgcolor="#0044aa" style="padding:20px;color:#fff;font-size:24px">Weekly notes</td></tr></table>`,
		"a linked heading":  `<a ` + href + `><h1 style="background:#f0f0f0;padding:5px;font-size:130%">Changes</h1></a>`,
		"a status":          `<table><tr><td>Build 14</td><td bgcolor="#0a6" style="padding:8px 16px;color:#fff">Passed</td></tr></table>`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := dump(Read(source).Blocks); strings.Contains(got, "<") {
				t.Errorf("a button: %s", got)
			}
		})
	}
}
