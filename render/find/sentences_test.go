package find

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mayfly/render/html"
	"mayfly/render/text"
)

// lines are the lines of a file of sentences, their fields taken apart; the first field is the
// language.
func lines(t *testing.T, file string) [][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	if len(all) == 0 {
		t.Fatal("nothing in " + file)
	}
	return all
}

// TestCodesInSentences: a code is found in one sentence of each language, whatever its shape.
func TestCodesInSentences(t *testing.T) {
	for _, fields := range lines(t, "sentences.txt") {
		for _, code := range []string{"482913", "7031", "90417725", "7KQ2M9", "QX7K-2PRT"} {
			in := Input{Subject: "Northwind", Doc: text.Read(strings.ReplaceAll(fields[1], "#", code), text.Options{})}
			if r := Find(in); !r.CodeOK || r.Codes[0].Value != code {
				t.Errorf("%s: %s not found in %q: %+v", fields[0], code, fields[1], r.Codes)
			}
		}
	}
}

// TestNumbersInSentences: numbers of orders, invoices and customers are no codes.
func TestNumbersInSentences(t *testing.T) {
	for _, fields := range lines(t, "numbers.txt") {
		for _, numbers := range [][]any{{482913, 70312}, {90417725, 448210}} {
			body := fields[1]
			for i := 0; strings.Contains(body, "#"); i++ {
				body = strings.Replace(body, "#", fmt.Sprint(numbers[i%2]), 1)
			}
			if r := Find(Input{Subject: "Northwind", Doc: text.Read(body, text.Options{})}); r.CodeOK {
				t.Errorf("%s: %s found in %q: %q", fields[0], r.Codes[0].Value, body, r.Codes[0].Reasons)
			}
		}
	}
}

// TestCoupons: codes of other kinds are none to sign in with.
func TestCoupons(t *testing.T) {
	for _, fields := range lines(t, "coupons.txt") {
		for _, code := range []string{"SAVE20", "482913", "7KQ2-M9XP", "HERBST", "summer-sale-2031"} {
			body := strings.ReplaceAll(fields[1], "#", code)
			if r := Find(Input{Subject: "Northwind", Doc: text.Read(body, text.Options{})}); r.CodeOK {
				t.Errorf("%s: %s found in %q: %q", fields[0], code, body, r.Codes[0].Reasons)
			}
		}
	}
}

const request = `<p><a href="https://northwind.example/"><img src="x" alt="Northwind" width="90"></a></p>
<p><a href="https://click.example/ls/%s">%s</a></p>
<p><a href="https://northwind.example/privacy">Privacy</a> <a href="https://click.example/ls/unsubscribe1234">Unsubscribe</a></p>`

// TestRequests: the link that a mail is for is found by its words alone, in every language.
func TestRequests(t *testing.T) {
	for _, fields := range lines(t, "requests.txt") {
		want := "https://click.example/ls/a7c3e9b1d5f2"
		r := Find(Input{Subject: fields[1], Doc: html.Read(fmt.Sprintf(request, "a7c3e9b1d5f2", fields[2]))})
		if !r.LinkOK || r.Links[0].URL != want {
			t.Errorf("%s: %q [%s] not found: %+v", fields[0], fields[1], fields[2], r.Links)
		}
	}
}

const report = `<p><a href="https://northwind.example/"><img src="x" alt="Northwind" width="90"></a></p><h1>%s</h1>
<p><a href="https://northwind.example/%s" style="background:#06c;color:#fff;padding:10px">%s</a></p>`

// TestReports: a mail that tells what has happened has no link to take, however fine its button.
func TestReports(t *testing.T) {
	for _, fields := range lines(t, "reports.txt") {
		for _, path := range []string{"login", "account", "orders/448210"} {
			r := Find(Input{Subject: fields[1], Doc: html.Read(fmt.Sprintf(report, fields[1], path, fields[2]))})
			if r.LinkOK {
				t.Errorf("%s: %q [%s] %s found: %q", fields[0], fields[1], fields[2], path, r.Links[0].Reasons)
			}
		}
	}
}
