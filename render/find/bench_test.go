package find

import (
	"fmt"
	"strings"
	"testing"

	"mayfly/render/html"
	"mayfly/render/text"
)

func BenchmarkFind(b *testing.B) {
	bodies := map[string]string{
		"code":       `<p>Your verification code is</p><p style="font-size:30px">482913</p><p>It expires in ten minutes.</p>`,
		"100KB":      strings.Repeat(`<p>The quick brown fox <a href="https://example.com/story/12345">reads on</a> about order 4471820 of November.</p>`, 900),
		"links":      manyLinks(100_000),
		"long word":  "<p>" + strings.Repeat("a1", 500_000) + "</p>",
		"many codes": strings.Repeat("<p>code 482913</p>", 20_000),
	}
	for name, body := range bodies {
		d := html.Read(body)
		in := Input{Subject: "Verify your account", Doc: d}
		Find(in)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Find(in)
			}
		})
	}
}

func manyLinks(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, `<a href="https://example.com/verify?token=%032d">Verify</a> `, i)
	}
	return s.String()
}

func BenchmarkFindText(b *testing.B) {
	d := text.Read(strings.Repeat("Hello, here is line after line of a long newsletter in plain text, with 12345 in it.\n", 1200), text.Options{})
	in := Input{Subject: "News", Doc: d}
	Find(in)
	for b.Loop() {
		Find(in)
	}
}
