package snapshot_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/internal/message"
	"mayfly/internal/snapshot"
)

// run is one run of an application: its values differ from those of any other.
type run struct{ *rand.Rand }

func (r run) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func (r run) of(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	digits = "0123456789"
	small  = "abcdefghijklmnopqrstuvwxyz"
	large  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func (r run) hex(n int) string { return hex.EncodeToString(r.bytes(n)) }
func (r run) time() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(4 * 365 * 24 * int64(time.Hour))))
}

// applications are mails as frameworks make them for an address.
var applications = map[string]func(r run, to string) string{
	"django": func(r run, to string) string { // django.contrib.auth's reset of a password
		uid := base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprint(1 + r.IntN(90000))))
		return "From: webmaster@localhost\nTo: " + to + "\nSubject: Password reset on 127.0.0.1:8000\nContent-Type: text/plain; charset=utf-8\n\n" +
			"\nYou're receiving this email because you requested a password reset for your user account at 127.0.0.1:8000.\n\n" +
			"Please go to the following page and choose a new password:\n\n" +
			fmt.Sprintf("http://127.0.0.1:%d/accounts/reset/%s/%s-%s/\n\n", 1024+r.IntN(60000), uid, r.of(small+digits, 6), r.hex(16)) +
			"In case you’ve forgotten, you are: " + strings.Split(to, "@")[0] + "\n\nThanks for using our site!\n"
	},
	"rails": func(r run, to string) string { // Devise's confirmation
		link := fmt.Sprintf("http://localhost:%d/users/confirmation?confirmation_token=%s", 1024+r.IntN(60000), r.of(small+large+digits+"_-", 20))
		return "From: please-change-me@example.com\nTo: " + to + "\nSubject: Confirmation instructions\nContent-Type: text/html; charset=UTF-8\n\n" +
			"<p>Welcome " + to + "!</p>\n<p>You can confirm your account email through the link below:</p>\n" +
			`<p><a href="` + link + `">Confirm my account</a></p>`
	},
	"nextjs": func(r run, to string) string { // Auth.js's magic link
		link := fmt.Sprintf("http://localhost:%d/api/auth/callback/nodemailer?callbackUrl=http%%3A%%2F%%2Flocalhost%%3A3000%%2F&token=%s&email=%s", 1024+r.IntN(60000), r.hex(32), strings.ReplaceAll(to, "@", "%40"))
		return "From: Acme <no-reply@acme.example>\nTo: " + to + "\nSubject: Sign in to localhost:3000\nContent-Type: text/plain; charset=utf-8" +
			"\n\n" + "Sign in to localhost:3000\n" + link + "\n"
	},
	"php": func(r run, to string) string { // WordPress's new user
		name := strings.Split(to, "@")[0]
		return "From: WordPress <wordpress@shop.example>\nTo: " + to + "\nSubject: [Shop] Login Details\nContent-Type: text/plain; charset=UTF-8\n\n" +
			"Username: " + name + "\n\nTo set your password, visit the following address:\n\n" +
			"https://shop.example/wp-login.php?login=" + name + "&key=" + r.of(small+large+digits, 20) + "&action=rp\n\n" +
			"https://shop.example/wp-login.php\n\nRequested on " + r.time().Format("January 2, 2006 3:04 pm") + ".\n"
	},
	"spring": func(r run, to string) string { // a template of Thymeleaf with a code
		code, at := r.of(digits[1:], 1)+r.of(digits, 5), r.time()
		return "From: Shop <no-reply@shop.example>\nTo: " + to + "\nSubject: Ihr Code\nContent-Type: text/html; charset=UTF-8\n\n" +
			"<h1>Willkommen!</h1><p>Ihr Bestätigungscode lautet <b>" + code[:3] + " " + code[3:] + "</b>.</p>" +
			"<p>Angefordert am " + at.Format("02.01.2006") + " um " + at.Format("15:04") + " Uhr, Vorgang " + r.hex(16) + ".</p>" +
			"<p>© " + at.Format("2006") + " Shop GmbH</p>"
	},
}

func text(raw, address string) string {
	return snapshot.Text(message.File("mail.eml", "eml", raw), address)
}

func TestEveryRunHasTheSameSnapshot(t *testing.T) {
	t.Parallel()
	runs := 100
	if os.Getenv("MAYFLY_LONG") != "" {
		runs = 1000
	} else {
		t.Log("set MAYFLY_LONG=1 for 1,000 runs of each")
	}
	for name, app := range applications {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := map[string]int{}
			for n := range runs {
				r := run{rand.New(rand.NewPCG(1, uint64(n)))}
				to := fmt.Sprintf("%s-%s-%s@mayfly.test", []string{"quiet", "brave", "icy"}[n%3], []string{"otter", "heron", "lynx"}[n/3%3], r.of(small+digits, 4))
				kept[text(app(r, to), to)]++
			}
			file := filepath.Join("testdata", name+".txt")
			want, err := os.ReadFile(file)
			if os.Getenv("MAYFLY_UPDATE") != "" {
				for got := range kept {
					want, err = []byte(got), os.WriteFile(file, []byte(got), 0o666)
				}
			}
			if err != nil || len(kept) != 1 || kept[string(want)] != runs {
				shown := 0
				for got, times := range kept {
					if shown++; shown < 4 {
						t.Errorf("%d times:\n%s", times, got)
					}
				}
				t.Errorf("%d different snapshots, %v", len(kept), err)
			}
		})
	}
}

func TestTheHourAndTheZoneDoNotMatter(t *testing.T) {
	defer func(before *time.Location) { time.Local = before }(time.Local)
	kept := map[string]bool{}
	for name, offset := range map[string]int{"UTC": 0, "PDT": -7, "IST": 5, "NZDT": 13} {
		time.Local = time.FixedZone(name, offset*60*60)
		for hour := range 24 {
			at := time.Date(2026, 3, 1, hour, 30, 0, 0, time.Local)
			ics := func(t time.Time) string { return t.UTC().Format("20060102T150405Z") }
			kept[text("From: a@acme.example\nTo: ada@mayfly.test\nSubject: Standup\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n"+
				"Made at "+at.Format("3:04 PM MST, January 2, 2006")+".\n--b\nContent-Type: text/calendar\n\n"+
				"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:"+ics(at)+"\nDTEND:"+ics(at.Add(time.Hour))+"\nSUMMARY:Standup\nEND:VEVENT\nEND:VCALENDAR\n--b--\n",
				"ada@mayfly.test")] = true
		}
	}
	if len(kept) != 1 {
		t.Errorf("%d different snapshots, such as %q", len(kept), slices.Sorted(maps.Keys(kept))[:2])
	}
}

func TestAChangedWordIsShown(t *testing.T) {
	t.Parallel()
	const mail = "From: a@acme.example\nTo: quiet-otter@mayfly.test\nSubject: Your code\n\nHello Ada, welcome to Acme.\n\nYour code is 482913.\n"
	dir, state := t.TempDir(), t.TempDir()
	o := snapshot.Options{Dir: filepath.Join(dir, "mails"), State: state, CI: true}
	if _, written, err := snapshot.Check("sign up", text(mail, "quiet-otter@mayfly.test"), o); err == nil || !written || !strings.Contains(err.Error(), "commit it") {
		t.Fatalf("a new one: %v, %v", written, err)
	}
	if _, written, err := snapshot.Check("sign up", text(strings.Replace(mail, "482913", "731002", 1), "quiet-otter@mayfly.test"), o); err != nil || written {
		t.Errorf("another code: %v, %v", written, err)
	}
	changed := text(strings.Replace(mail, "welcome", "good day", 1), "quiet-otter@mayfly.test")
	_, _, err := snapshot.Check("sign up", changed, o)
	var differs *snapshot.Mismatch
	if want := "- Hello Ada, [-welcome-] to Acme.\n+ Hello Ada, {+good day+} to Acme."; !errors.As(err, &differs) || differs.Words != want || differs.Line != 5 {
		t.Errorf("another word: %+v", err)
	}
	file := filepath.Join(dir, "mails", "sign up.txt")
	kept, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.ReplaceAll(string(kept), "\n", "\r\n")), 0o666) // as Git does on Windows
	}
	fortest.Must(t, err)
	if _, written, err := snapshot.Check("sign up", text(strings.ReplaceAll(mail, "\n", "\r\n"), "quiet-otter@mayfly.test"), o); err != nil || written {
		t.Errorf("other ends of lines: %v, %v", written, err)
	}
	o.Update = true
	if _, written, err := snapshot.Check("sign up", changed, o); err != nil || !written {
		t.Errorf("an update: %v, %v", written, err)
	}
	for _, name := range []string{"", "../x", "a/b", ".hidden", `a\b`, "a\x1b"} {
		if _, _, err := snapshot.Check(name, changed, o); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
	old := filepath.Join(dir, "mails", "old.txt")
	fortest.Must(t, os.WriteFile(old, nil, 0o666))
	if unused := snapshot.Unused(state); !slices.Equal(unused, []string{old}) {
		t.Errorf("unused %q", unused)
	}
}
