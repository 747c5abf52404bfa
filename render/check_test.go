package render_test

import (
	"archive/zip"
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"mayfly/internal/mail"
	"mayfly/render"
	"mayfly/render/check"
)

// received is when the mails of these tests arrive; sent is a Date that fits.
var received = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const sent = "Wed, 04 Mar 2026 11:59:58 +0000"

// sound is a mail in which there is nothing to mend.
func sound() mail.Message {
	return mail.Message{
		Subject: "Confirm your e-mail address", From: mail.Address{Addr: "no-reply@acme.example"}, To: []mail.Address{{Addr: "ada@mayfly.test"}}, ReceivedAt: received,
		Text: "Welcome, Ada.\n\nYour verification code is 482913.\n\nAcme Inc.\n",
		HTML: `<html lang="en"><div style="display:none">One step left</div><p>Welcome, Ada.</p><p>Your verification code is <b>482913</b>.</p>` +
			`<img src="https://acme.example/logo.png" alt="Acme"><p>Acme Inc.</p>`,
		Fields: []mail.Field{{Name: "From", Value: "no-reply@acme.example"}, {Name: "Date", Value: sent}, {Name: "Message-ID", Value: "<1@acme.example>"}},
	}
}

func checkIDs(m mail.Message) []string {
	var ids []string
	for _, f := range render.Open(m).Findings() {
		ids = append(ids, f.ID)
	}
	return ids
}

func TestASoundMailHasNothingToMend(t *testing.T) {
	if ids := checkIDs(sound()); len(ids) > 0 {
		t.Errorf("found %v", ids)
	}
	accessible := sound()
	accessible.HTML += `<h1>Orders</h1><h2>Today</h2><h1>News</h1><table role="presentation"><tr><td><table><tr><th>Item<tr><td>Pen</table></table>` +
		`<p dir="rtl">שלום</p><p style="color:#fff;background-image:url(x.png)">On a picture</p><h2 style="font-size:24px;color:#888">Large</h2><p style="color:#767676">Enough<sup style="font-size:9px">a</sup>` +
		`<p><a href="https://acme.example/x">All of our orders</a></p>`
	for _, id := range checkIDs(accessible) {
		if id != "client-style" && id != "client-layout" {
			t.Errorf("found %s in an accessible mail", id)
		}
	}
	innocent := sound()
	innocent.Subject = "100% cotton, 20% off"
	innocent.Text = strings.Replace(innocent.Text, "Ada.", "Ada. It was declared null and void, at 50% of 70%; São Paulo, CÂMARA, NÃO.", 1)
	innocent.HTML = strings.Replace(innocent.HTML, "Ada.", "Ada. It was declared null and void, at 50% of 70%; São Paulo, CÂMARA, NÃO.", 1)
	if ids := checkIDs(innocent); len(ids) > 0 {
		t.Errorf("found %v in prose", ids)
	}
}

// signed is a mail whose signature has the hash of an empty body.
func signed(domain, body string) []byte {
	return []byte("DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=" + domain + "; s=s1; h=from;\r\n" +
		" bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=AAAA\r\nFrom: no-reply@acme.example\r\n\r\n" + body)
}

// faults are changes to a sound mail, by the ID of what is then found.
var faults = []struct {
	id     string
	change func(*mail.Message)
}{
	{"placeholder", func(m *mail.Message) { m.Subject = "Hello {{name}}" }},
	{"placeholder", func(m *mail.Message) { m.HTML += "<p>Dear %FIRST_NAME%</p>" }},
	{"placeholder", func(m *mail.Message) { m.HTML += "<p>Dear ${user.name}</p>" }},
	{"placeholder", func(m *mail.Message) { m.HTML += "<p>*|FNAME|*</p>" }},
	{"placeholder", func(m *mail.Message) { m.HTML += "<p>Hi null,</p>" }},
	{"placeholder", func(m *mail.Message) { m.Text += "Total: NaN\n" }},
	{"placeholder", func(m *mail.Message) { m.Text += "Hello undefined!\n" }},
	{"placeholder", func(m *mail.Message) { m.HTML += "<p>[object Object]</p>" }},
	{"placeholder", func(m *mail.Message) {
		m.HTML += `<p><a href="https://acme.example/u?id=undefined&amp;x=1">open</a></p>`
	}},
	{"mojibake", func(m *mail.Message) { m.HTML += "<p>BÃ¼cher fÃ¼r Sie</p>" }},
	{"mojibake", func(m *mail.Message) { m.Subject = "Itâ€™s here" }},
	{"malformed", func(m *mail.Message) { m.Defects = []string{"A multipart is not closed"} }},
	{"link-empty", func(m *mail.Message) { m.HTML += `<p><a href="#">more</a></p>` }},
	{"link-relative", func(m *mail.Message) { m.HTML += `<p><a href="/account">account</a></p>` }},
	{"link-scheme", func(m *mail.Message) { m.HTML += `<p><a href="javascript:alert(1)">account</a></p>` }},
	{"link-private", func(m *mail.Message) { m.HTML += `<p><a href="http://localhost:3000/x">account</a></p>` }},
	{"link-private", func(m *mail.Message) { m.HTML += `<p><a href="https://192.168.1.4/x">account</a></p>` }},
	{"link-http", func(m *mail.Message) { m.HTML += `<p><a href="http://acme.example/x">account</a></p>` }},
	{"link-spaces", func(m *mail.Message) { m.HTML += `<p><a href="https://acme.example/a b">account</a></p>` }},
	{"link-differs", func(m *mail.Message) { m.HTML += `<p><a href="https://other.com/">www.acme.com</a></p>` }},
	{"parts-code", func(m *mail.Message) { m.Text = strings.Replace(m.Text, "482913", "731002", 1) }},
	{"parts-code", func(m *mail.Message) { m.Text = "Welcome, Ada.\n" }},
	{"parts-link", func(m *mail.Message) {
		m.Text = "Please confirm your e-mail address: https://acme.example/confirm/1\n"
		m.HTML = `<p>Please confirm your e-mail address:</p><p><a href="https://acme.example/confirm/2">Confirm your e-mail address</a></p>`
	}},
	{"parts-differ", func(m *mail.Message) {
		m.HTML += "<p>The quick brown foxes jumped over several lazy dogs while twenty clever engineers quietly watched them from behind large windows near their favourite coffee machine every single Monday morning.</p>"
	}},
	{"text-missing", func(m *mail.Message) { m.Text = "" }},
	{"body-missing", func(m *mail.Message) { m.Text, m.HTML = "", "" }},
	{"preheader-missing", func(m *mail.Message) { m.HTML = strings.Replace(m.HTML, "One step left", "", 1) }},
	{"image-alt", func(m *mail.Message) { m.HTML += `<img src="https://acme.example/hero.png" width="600">` }},
	{"text-reversed", func(m *mail.Message) { m.HTML += "<p>\u202e!eviL won si pordriA\u202c</p>" }},
	{"text-reversed", func(m *mail.Message) { m.HTML += `<p>up to 50 $ <bdo dir="rtl">!eerf yletelpmoc</bdo></p>` }},
	{"text-reversed", func(m *mail.Message) { m.Text += "\u202e!eviL won si pordriA\u202c\n" }},
	{"text-reversed", func(m *mail.Message) { m.Subject = "\u202e!eerf yletelpmoc" }},
	{"html-clipped", func(m *mail.Message) { m.HTML += "<!--" + strings.Repeat("x", 110<<10) + "-->" }},
	{"script", func(m *mail.Message) { m.HTML += "<script>1</script>" }},
	{"form", func(m *mail.Message) { m.HTML += "<form></form>" }},
	{"embedded", func(m *mail.Message) { m.HTML += `<iframe src="https://acme.example/"></iframe>` }},
	{"stylesheet", func(m *mail.Message) {
		m.HTML += `<link rel="stylesheet" href="https://acme.example/a.css">`
	}},
	{"subject-empty", func(m *mail.Message) { m.Subject = " " }},
	{"subject-long", func(m *mail.Message) { m.Subject = strings.Repeat("word ", 20) }},
	{"from-missing", func(m *mail.Message) { m.Fields = m.Fields[1:] }},
	{"from-several", func(m *mail.Message) { m.Fields = append(m.Fields, m.Fields[0]) }},
	{"date-missing", func(m *mail.Message) { m.Fields = append(m.Fields[:1:1], m.Fields[2]) }},
	{"date-invalid", func(m *mail.Message) { m.Fields[1].Value = "yesterday" }},
	{"date-off", func(m *mail.Message) { m.ReceivedAt = received.Add(3 * time.Hour) }},
	{"message-id-missing", func(m *mail.Message) { m.Fields = m.Fields[:2] }},
	{"authentication", func(m *mail.Message) {
		m.Fields = append(m.Fields, mail.Field{Name: "Authentication-Results", Value: "mx.example; spf=pass smtp.mailfrom=a; dkim=fail (bad signature)"})
	}},
	{"unsubscribe-missing", func(m *mail.Message) {
		m.Fields = append(m.Fields, mail.Field{Name: "List-Id", Value: "<news.acme.example>"})
	}},
	{"unsubscribe-one-click", func(m *mail.Message) {
		m.Fields = append(m.Fields, mail.Field{Name: "List-Unsubscribe", Value: "<https://acme.example/u>"})
	}},
	{"attachment-blocked", func(m *mail.Message) {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		_, _ = z.Create("setup/Install.EXE")
		z.Close()
		m.Attachments = append(m.Attachments, mail.Attachment{Filename: "app.zip", Content: b.Bytes()})
	}},
	{"dkim-body", func(m *mail.Message) { m.Raw = signed("acme.example", "Hello\r\n") }},
	{"dkim-signature", func(m *mail.Message) { m.Raw = []byte("DKIM-Signature: v=1\r\nFrom: a@acme.example\r\n\r\n") }},
	{"dkim-key", func(m *mail.Message) { m.Raw = signed("acme.example", "") }},
	{"dkim-alignment", func(m *mail.Message) { m.Raw = signed("esp.example", "") }},
	{"dkim-unsubscribe", func(m *mail.Message) {
		m.Raw = signed("acme.example", "")
		m.Fields = append(m.Fields, mail.Field{Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click"})
	}},
	{"language-missing", func(m *mail.Message) { m.HTML = strings.Replace(m.HTML, ` lang="en"`, "", 1) }},
	{"direction-missing", func(m *mail.Message) { m.HTML += "<p>שלום עדה, הקוד שלך מוכן</p>" }},
	{"table-role", func(m *mail.Message) { m.HTML += "<table><tr><td>Hello</table>" }},
	{"heading-order", func(m *mail.Message) { m.HTML += "<h1>Orders</h1><h4>Today</h4>" }},
	{"contrast-low", func(m *mail.Message) { m.HTML += `<p style="color:#999">Hello</p>` }},
	{"contrast-low", func(m *mail.Message) { m.HTML += `<p style="color:#fff;background:#4a9">Hello</p>` }},
	{"text-small", func(m *mail.Message) { m.HTML += `<p style="font-size:13px">Hello</p>` }},
	{"link-vague", func(m *mail.Message) { m.HTML += `<p><a href="https://acme.example/x">Click here</a></p>` }},
	{"client-layout", func(m *mail.Message) { m.HTML += `<p style="display:flex">x</p>` }},
	{"client-style", func(m *mail.Message) { m.HTML += `<p style="border-radius:4px">x</p>` }},
}

func TestEachFaultIsFound(t *testing.T) {
	for _, f := range faults {
		m := sound()
		f.change(&m)
		ids := checkIDs(m)
		if len(ids) == 0 || !strings.Contains(" "+strings.Join(ids, " ")+" ", " "+f.id+" ") {
			t.Errorf("%s: found %v", f.id, ids)
		}
	}
}

// TestTheListOfChecks holds docs/checks.md to what the checks can say.
func TestTheListOfChecks(t *testing.T) {
	text, err := os.ReadFile("../docs/checks.md")
	must(t, err)
	listed := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		listed[row[1]] = true
	}
	tested := make(map[string]bool)
	for _, f := range faults {
		tested[f.id] = true
		if !listed[f.id] {
			t.Errorf("docs/checks.md lacks %s", f.id)
		}
	}
	for id := range listed {
		if !tested[id] && id != "link-no-host" && id != "unchecked" { // see TestAMailThatPanics
			t.Errorf("docs/checks.md has %s, which no test shows", id)
		}
	}
	if ids := slices.Sorted(slices.Values(check.IDs())); !slices.Equal(ids, slices.Sorted(maps.Keys(listed))) {
		t.Errorf("the IDs are %q, docs/checks.md has others", ids)
	}
}

func TestRulesOfTheChecks(t *testing.T) {
	m := sound()
	m.HTML += `<p><a href="http://localhost:3000/x">x</a> <a href="http://acme.example/x">y</a> <a href="">z</a></p>`
	found := render.Open(m).Under(check.Rules{Local: true, Ignore: []string{"link-empty"}}).Checks()
	if len(found) != 2 || found[0].ID != "link-http" || found[1].ID != "link-private" || found[1].Level != check.Note {
		t.Errorf("%+v", found)
	}
}

func TestFindingsAreFewAndOneLineEach(t *testing.T) {
	m := sound()
	m.HTML += strings.Repeat(`<p>{{a`+"\x1b[2J"+`}} <a href="http://localhost/">x</a> <img src=x></p>`, 500)
	for i := range 200 {
		m.HTML += `<p>{{field` + strings.Repeat("x", i%40) + `}}</p>`
	}
	findings := render.Open(m).Checks()
	if len(findings) == 0 || len(findings) > 40 {
		t.Errorf("%d findings", len(findings))
	}
	for i, f := range findings {
		if strings.ContainsAny(f.Message+f.Where+f.ID, "\n\r\x1b") {
			t.Errorf("%q is not a line", f.Message)
		}
		if i > 0 && f.Level > findings[i-1].Level {
			t.Errorf("%s stands behind %s", f.Level, findings[i-1].Level)
		}
	}
}

// TestClients holds the messages about clients to one line, and what they say to what happens.
func TestClients(t *testing.T) {
	m := sound()
	m.HTML += `<div style="display:flex;gap:4px"><b style="border-radius:4px">x</b><b style="border-radius:4px">y</b></div>` + "\n" +
		`<p style="text-shadow:0 0 1px red;background:linear-gradient(red, blue);backdrop-filter:blur(1px);word-spacing:1rem">z</p>` +
		`<style>@media (prefers-reduced-motion:reduce) {p {color:red}}</style>`
	var lines []string
	for _, line := range render.Open(m).Lines(render.Checks, render.Options{Width: 80}) {
		if line.Plain != "" {
			lines = append(lines, strings.TrimSpace(line.Plain))
		}
		if ansi.StringWidth(line.Plain) > 80 {
			t.Errorf("%q is too wide", line.Plain)
		}
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{
		"6 mail client layout findings\n! @media · 4 places · rules ignored in Outlook for Windows\n",
		"\n! <style> · 1 place · rules in the body ignored in Gmail\n",
		"\n! display:flex · 1 place · one below the other in Outlook for Windows\n",
		"\n! gap · 1 place · no gap in Outlook for Windows, Yahoo\n",
		"· border-radius · 2 places · square corners in Outlook for Windows\n",
		"· linear-gradient() · 1 place · no gradient in Outlook, Yahoo\n",
		"partly in Gmail for Android/iOS: Google accounts",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	findings := render.Open(m).Under(check.Rules{Clients: []string{"outlook-windows"}, Ignore: []string{"client-layout"}}).Findings()
	for i, f := range findings {
		if f.ID != "client-style" || f.Line == 0 || f.Level != check.Decoration || len(f.Use.Gaps) != 1 || f.Use.Gaps[0].Client != "outlook-windows" || i > 0 && f.Use.Places > findings[i-1].Use.Places {
			t.Errorf("%+v", f)
		}
	}
	if len(findings) < 4 || findings[1].Use.Title != "border-radius" {
		t.Errorf("%+v", findings)
	}
}
