package check_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"mayfly/render/check"
	"mayfly/render/find"
	"mayfly/render/html"
	"mayfly/render/text"
)

// input is a mail of these parts, read as the application reads it.
func input(subject, textPart, htmlPart string, fields ...check.Field) check.Input {
	in := check.Input{Subject: subject, Fields: fields}
	if textPart != "" {
		d := text.Read(textPart, text.Options{})
		in.Text = check.Part{Source: textPart, Doc: d, Found: find.Find(find.Input{Subject: subject, Doc: d}).Result}
	}
	if htmlPart != "" {
		d := html.Read(htmlPart)
		in.HTML = check.Part{Source: htmlPart, Doc: d, Found: find.Find(find.Input{Subject: subject, Doc: d}).Result}
	}
	return in
}

const preheader = `<html lang="en"><div style="display:none">One step is left</div>`

// wrapped is text in a script without spaces, broken as programs break lines.
const wrapped = "感谢您注册蓝图协作平台，我们很高\n兴您能加入我们的团队。请点击下方按\n钮验证您的邮箱地址，完成注册流程。如果您\n没有注册过账号，请忽略此邮件。" +
	"链接将在一天后失\n效。需要帮助请查看说明\n文档，也可以回\n复客服。祝您使用愉\n快，期待与您一\n起工作。"

func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		in   check.Input
		want string // "ID: message", or "" for none
	}{
		"nothing to mend":        {input("Hello", "Hello Ada", preheader+"<p>Hello Ada</p>"), ""},
		"first words":            {input("Hello", "Hello Ada", `<html lang="en">`+"<h1>Hello</h1><p>Ada,   how are you?</p>"), `preheader-missing: There is no preheader: message lists show the first words of the body after the subject, "Hello Ada, how are you?"`},
		"links to nowhere":       {input("Hello", "a b c", preheader+`<a href="#">a</a> <a href=" # ">b</a> <a href="#">c</a>`), `link-empty: 3 links lead nowhere: href="#"`},
		"a link to nowhere":      {input("Hello", "a", preheader+`<a href="">a</a>`), `link-empty: A link leads nowhere: href=""`},
		"a name of a host":       {input("Hello", "See www.acme.example", preheader+"<p>See www.acme.example</p>"), ""},
		"an address":             {input("Hello", "See http://www.acme.example", preheader+"<p>See it</p>"), `link-http: "http://www.acme.example" is not encrypted: use https`},
		"a value that was null":  {input("Hello", "a", preheader+`<a href="https://acme.example/u/undefined?x=1">a</a>`), `placeholder: "https://acme.example/u/undefined?x=1" has a value that was not replaced`},
		"a private host":         {input("Hello", "a", preheader+`<a href="https://10.0.0.1/x">a</a>`), `link-private: "https://10.0.0.1/x" leads to 10.0.0.1, which recipients cannot reach`},
		"a host without a dot":   {input("Hello", "a", preheader+`<a href="https://intranet/x">a</a>`), `link-private: "https://intranet/x" leads to intranet, which recipients cannot reach`},
		"no host":                {input("Hello", "a", preheader+`<a href="/account">a</a>`), `link-relative: "/account" is relative: links in a message must be absolute`},
		"a spacer":               {input("Hello", "a", preheader+`a<img src="x.gif" width="1px" height=9>`), ""},
		"an image without alt":   {input("Hello", "a", preheader+`a<img src="x.png">`), `image-alt: An image has no alt text, and many readers do not load images: "x.png"`},
		"other codes":            {input("Your code", "Your code is 482913", preheader+"<p>Your code is <b>117204</b></p>"), "parts-code: The code is 482913 in the text and 117204 in the HTML"},
		"the same code, grouped": {input("Your code", "Your code is 482 913", preheader+"<p>Your code is <b>482913</b></p>"), ""},
		"UTF-8, twice":           {input("Hello", "Grüße", preheader+"<p>GrÃ¼ÃŸe</p>"), `mojibake: "Ã¼" looks like UTF-8 read in another charset: encode and declare UTF-8, once`},
		"letters in a URL":       {input("Привет", "Вот https://acme.example/%D0%BF%D1%80", preheader+`<a href="https://acme.example/%D0%BF%D1%80">Вот</a>`), ""},
		"a mark in a URL":        {input("Hello", "a", preheader+`<a href="https://acme.example/?d=%DATE%">a</a>`), `placeholder: "%DATE%" was not replaced: the template did not get this value`},
		"undefined, in prose":    {input("Hello", "Why undefined is no function, and NaN no number", preheader+"<p>Why undefined is no function, and NaN no number</p>"), ""},
		"undefined, as a name":   {input("Hello", "Hi undefined", preheader+"<p>Hi Ada</p>"), `placeholder: "Hi undefined" was not replaced: the template did not get this value`},
		"a code found in one":    {input("Verify", "Your verification code is 482913", preheader+"<p>Hello</p><table role=\"none\"><tr><td>Use</td></tr><tr><td>482-913</td></tr></table><p>to go on.</p>"), ""},
		"a link found in one":    {input("Verify", "Confirm your address: https://acme.example/a/9fj39dkf02", preheader+`<p>Hello.</p><p>Thanks.</p><p><a href="https://acme.example/a/9fj39dkf02">Go</a> <a href="https://acme.example/b">On</a></p>`), ""},
		"no spaces, wrapped":     {input("您好", wrapped, preheader+"<p>"+strings.ReplaceAll(wrapped, "\n", "")+"</p>"), ""},
		"a template alone":       {func() check.Input { in := input("", "", preheader+"<p>Hello"); in.BodyOnly = true; return in }(), ""},
		"no subject":             {input(" ", "Hello", ""), "subject-empty: The subject is empty: many people and spam filters take that for spam"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, f := range check.Run(c.in) {
				if got != "" {
					got += "\n"
				}
				got += f.ID + ": " + f.Message
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestHeaders: also where the reader's clock shows the offset of a Date under a name of its own.
func TestHeaders(t *testing.T) {
	here := time.Local
	t.Cleanup(func() { time.Local = here })
	time.Local = time.FixedZone("WET", 0)
	whole := []check.Field{{"From", "a@acme.example"}, {"Message-ID", "<1@acme.example>"}, {"Date", "Wed, 04 Mar 2026 11:59:58 +0000"}}
	received := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	with := func(more ...check.Field) []check.Field { return append(append([]check.Field(nil), whole...), more...) }
	dated := func(date string) []check.Field {
		return append(slices.Clone(whole[:2]), check.Field{Name: "Date", Value: date})
	}
	for name, c := range map[string]struct {
		fields []check.Field
		at     time.Time
		want   string // IDs
	}{
		"whole":              {whole, received, ""},
		"empty":              {[]check.Field{}, received, "from-missing date-missing message-id-missing"},
		"not known":          {nil, received, ""},
		"two senders":        {with(check.Field{Name: "from", Value: "b@acme.example"}), received, "from-several"},
		"late":               {whole, received.Add(2 * time.Hour), "date-off"},
		"zone by name":       {dated("Wed, 04 Mar 2026 12:59:58 CET"), received, ""},
		"zone by letters":    {dated("Wed, 04 Mar 2026 06:59:58 EST"), received, ""},
		"late in GMT":        {dated("Wed, 04 Mar 2026 10:00:00 GMT"), received, "date-off"},
		"from the future":    {whole, received.Add(-time.Hour), "date-off"},
		"receipt not known":  {whole, time.Time{}, ""},
		"a failed signature": {with(check.Field{Name: "Authentication-Results", Value: "mx.example; spf=pass smtp.mailfrom=acme.example; dkim=fail (bad)"}), received, "authentication"},
		"a list":             {with(check.Field{Name: "List-Id", Value: "<l.acme.example>"}), received, "unsubscribe-missing"},
		"a list, half":       {with(check.Field{Name: "List-Unsubscribe", Value: "<mailto:u@acme.example>"}), received, "unsubscribe-one-click"},
	} {
		in := input("Hello", "Hello", "", c.fields...)
		in.ReceivedAt = c.at
		var ids []string
		for _, f := range check.Run(in) {
			ids = append(ids, f.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// FuzzRun: whatever the mail, its findings are few, lines of clean text, the same each time, and
// those that matter most come first.
func FuzzRun(f *testing.F) {
	f.Add("Your code", "Your code is 482913", "<p>Your code is <b>482913</b></p>")
	f.Add("{{subject}}", "%NAME% https://localhost/ http://x.example/undefined", `<a href="#">a</a><img src=x><form><script></script><iframe>`)
	f.Add("", "\xff\x1b[31m Ã¼", `<a href="java`+"\n"+`script:x">Ã¼</a><a href="https://a.example/ b">https://b.example</a>`)
	f.Add("null", "Hi null, [object Object] ${x} *|A|*", `<link rel=stylesheet href=x><embed><a href="//x">`+strings.Repeat("<img>", 20))
	f.Fuzz(func(t *testing.T, subject, textPart, htmlPart string) {
		if len(textPart)+len(htmlPart) > 1<<16 {
			t.Skip("longer mails only take longer")
		}
		in := input(strings.ToValidUTF8(subject, ""), textPart, htmlPart, check.Field{Name: "Date", Value: subject})
		findings := check.Run(in)
		if !reflect.DeepEqual(findings, check.Run(in)) {
			t.Error("the same mail gives other findings")
		}
		counts := make(map[string]int)
		for i, finding := range findings {
			if i > 0 && finding.Level > findings[i-1].Level {
				t.Errorf("%s stands behind %s", finding.Level, findings[i-1].Level)
			}
			if counts[finding.ID]++; counts[finding.ID] > 5 {
				t.Errorf("%s is listed more than five times", finding.ID)
			}
			if len(finding.Message) > 1000 || strings.ContainsFunc(finding.Message, func(r rune) bool { return r < ' ' && unicode.IsControl(r) && finding.ID != "parts-code" }) {
				t.Errorf("%s is no line: %q", finding.ID, finding.Message)
			}
		}
	})
}

func TestPlacesInTheSource(t *testing.T) {
	source := "<html>\r\n<body>\n\x1b[31m\t<p>Hi {{name}}</p>\r<a href=\"http://x.example/?a=1&amp;b=2\">x</a>\n\n<img src=\"a.png\"><a href='#'>here</a></body>"
	var got []string
	for _, f := range check.Run(check.Input{HTML: check.Part{Source: source, Doc: html.Read(source)}, BodyOnly: true}) {
		if f.Line > 0 {
			got = append(got, fmt.Sprintf("%s %d:%d", f.ID, f.Line, f.Column))
		}
	}
	want := []string{"placeholder 3:14", "link-empty 6:17", "link-http 4:9", "image-alt 6:0", "preheader-missing 2:0", "language-missing 1:0"}
	if !slices.Equal(got, want) {
		t.Errorf("the positions are %q, want %q", got, want)
	}
}
