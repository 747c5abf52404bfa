package render_test

import (
	"fmt"
	"strings"
	"testing"

	"mayfly/internal/mail"
	"mayfly/render"
)

// newsletter is an HTML mail of about the given size, made like those that builders of templates
// make: tables within tables, inline styles, a preheader, buttons, images, a footer.
func newsletter(size int) string {
	var b strings.Builder
	b.WriteString(`<html><head><style>.btn{background:#0b7a63;color:#fff;padding:12px 20px} @media (max-width:600px){.col{width:100%}}</style></head>` +
		`<body style="margin:0;background:#f4f4f4"><div style="display:none;max-height:0;overflow:hidden">What is new this week &zwnj;&nbsp;</div>` +
		`<table width="100%" role="presentation"><tr><td align="center"><table width="600" role="presentation" style="background:#ffffff">`)
	for i := 0; b.Len() < size-700; i++ {
		fmt.Fprintf(&b, `<tr><td style="padding:24px 32px;font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:24px;color:#333333">`+
			`<h2 style="margin:0 0 12px;font-size:24px;color:#0b3d63">Story number %d</h2><img src="https://cdn.acme.example/%d.png" width="536" height="240" alt="An image of story %d" style="display:block">`+
			`<p style="margin:0 0 16px">The quick brown fox jumps over the lazy dog, <b>again</b> and <i>again</i>, until the reader of the mail has had enough of it and follows <a href="https://acme.example/s/%d" style="color:#0b7a63">this link</a>.</p>`+
			`<table role="presentation"><tr><td class="btn"><a href="https://acme.example/read/%d" style="color:#ffffff;text-decoration:none">Read more</a></td></tr></table></td></tr>`, i, i, i, i, i)
	}
	b.WriteString(`<tr><td style="font-size:11px;color:#999999;padding:20px">Acme Inc., 1 Main Street<br>You receive this because you signed up.<br>` +
		`<a href="https://acme.example/u">Unsubscribe</a></td></tr></table></td></tr></table></body></html>`)
	return b.String()
}

var sizes = []int{2, 20, 100, 500} // KB

// BenchmarkOpen measures parse to lines at 80 columns, codes and links found on the way.
func BenchmarkOpen(b *testing.B) {
	for _, kb := range sizes {
		m := mail.Message{Subject: "What is new", From: mail.Address{Addr: "news@acme.example"}, HTML: newsletter(kb << 10)}
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(m.HTML)))
			for b.Loop() {
				render.Open(m).Lines(render.Rich, render.Options{Width: 80, Theme: themes()["dark-true"]})
			}
		})
	}
}

// BenchmarkResize measures laying out anew what is open.
func BenchmarkResize(b *testing.B) {
	for _, kb := range sizes {
		mail := render.Open(mail.Message{HTML: newsletter(kb << 10)})
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			b.ReportAllocs()
			for width := 40; b.Loop(); width++ {
				mail.Lines(render.Rich, render.Options{Width: 40 + width%100, Theme: themes()["dark-true"]})
			}
		})
	}
}
