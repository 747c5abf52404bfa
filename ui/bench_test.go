package ui

import (
	"context"
	"fmt"
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	"mayfly/ui/host"
	"mayfly/ui/session"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/api/watch"
	"mayfly/internal/config"
	"mayfly/internal/message"
	"mayfly/internal/registry"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// crowded is the application with 10,000 messages listed and a mail of 1 MB open, on a screen of
// 200×60.
func crowded(b *testing.B) *app {
	b.Helper()
	server := apitest.New(b, apitest.Options{})
	connect := func(context.Context, session.Target) (*session.Service, error) {
		return &session.Service{Client: server.Client(api.Options{}), Name: "bench", Registry: registry.Open(b.TempDir(), "bench", "https://mail.example")}, nil
	}
	a := newApp(b.Context(), Options{Services: session.Options{Connect: connect}, Config: config.Default()}, &host.Host{Copies: &host.Copies{}})
	b.Cleanup(a.connection.Close)
	a.Update(a.connection.Connect(session.Target{}, time.Now())())
	for _, msg := range []tea.Msg{
		tea.WindowSizeMsg{Width: 200, Height: 60}, tea.ColorProfileMsg{Profile: colorprofile.TrueColor}, tea.BackgroundColorMsg{Color: color.Black},
	} {
		a.Update(msg)
	}
	now := time.Now()
	i, _ := a.store.Put(api.Inbox{ID: "inbox_1", Email: "ada@mayfly.test", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}, now)
	a.store.Apply(listed(i, manySummaries(10_000, now)), now)
	a.updateLists()
	a.selectInbox("inbox_1")
	m := a.store.Messages[i.Keys[0]]
	opened := message.New(i.ID, api.Message{ID: m.ID, Subject: "Large", HTML: largeHTML(1 << 20)})
	a.reader.Open(m, i.Email, now)
	a.reader.Prepare()(opened.Mail()) // laid out before the clock runs
	a.reader.Show(opened)
	a.Update(nil)
	a.View()
	return a
}

// listed is the event of a whole list.
func listed(i *store.Inbox, list []api.Summary) watch.Event {
	return watch.Event{Kind: watch.Listed, InboxID: i.ID, Generation: i.Generation, Messages: list}
}

func manySummaries(n int, now time.Time) []api.Summary {
	out := make([]api.Summary, n)
	for k := range out {
		out[k] = api.Summary{
			ID: fmt.Sprintf("msg_%05d", k), From: "someone@example.com", FromName: fmt.Sprintf("Sender %d", k%97),
			Subject: fmt.Sprintf("Subject %d of a mail that is not the shortest", k), ReceivedAt: now.Add(-time.Duration(k) * time.Second), Size: 2048,
		}
	}
	return out
}

func largeHTML(size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, `<p>Paragraph %d with <b>bold</b>, <a href="https://example.com/%d">a link</a> and enough words to fill a line or two of the screen.</p>`, n, n)
	}
	return b.String()
}

// frames times an Update and the View after it, and reports the slowest but one in a hundred.
func frames(b *testing.B, a *app, next func(n int) tea.Msg) {
	b.Helper()
	took := make([]time.Duration, 0, 1024)
	b.ResetTimer()
	for n := 0; b.Loop(); n++ {
		start := time.Now()
		a.Update(next(n))
		a.View()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

func BenchmarkKeyDown(b *testing.B) {
	a := crowded(b)
	a.focus = theme.Messages
	frames(b, a, func(n int) tea.Msg {
		if n%9999 == 9998 {
			return keyPress("g")
		}
		return keyPress("j")
	})
}

func BenchmarkScrollMail(b *testing.B) {
	a := crowded(b)
	a.focus = theme.Reader
	frames(b, a, func(n int) tea.Msg {
		return keyPress([]string{"j", "j", "j", "pgdown", "G", "g"}[n%6])
	})
}

// typing types a text and deletes it again, over and over.
func typing(b *testing.B, a *app, text string) {
	b.Helper()
	frames(b, a, func(n int) tea.Msg {
		if k := n % (2 * len(text)); k < len(text) {
			return keyPress(text[k : k+1])
		}
		return keyPress("backspace")
	})
}

func BenchmarkFilter(b *testing.B) {
	a := crowded(b)
	a.focus = theme.Messages
	a.Update(keyPress("/"))
	typing(b, a, "sender 42 subject")
}

func BenchmarkSearch(b *testing.B) {
	a := crowded(b)
	a.focus = theme.Reader
	a.Update(keyPress("/"))
	typing(b, a, "paragraph 42")
}

// BenchmarkSearchAll searches 10,000 messages whose bodies are known, as much of them as is kept.
func BenchmarkSearchAll(b *testing.B) {
	a := crowded(b)
	for n, key := range a.store.Keys(store.All) {
		body := strings.Repeat(fmt.Sprintf("Paragraph %d of a body that has 42 words and no more.\n", n), 30)
		a.store.SetFindings(key, &store.Extracted{}, &store.Text{Lines: body, Folded: strings.ToLower(body)})
	}
	a.Update(tea.KeyPressMsg{Code: 'f', Mod: tea.ModCtrl})
	typing(b, a, "paragraph 42 nowhere")
}

// BenchmarkDialogs measures keys in each kind of dialog, in front of the crowded panes.
func BenchmarkDialogs(b *testing.B) {
	for _, d := range []struct{ name, open, keys string }{ // the keys are pressed over and over
		{"question", "d", "x"},
		{"prompt", "L", "a b backspace backspace"},
		{"form", "N", "a tab backspace shift+tab"},
		{"menu", ":", "down down o p backspace backspace"},
		{"help", "?", "down pgdown end home"},
		{"manual", "f1 enter", "down pgdown end home"},
		{"labels", "f", "pgdown pgup"},
		{"open a form", "", "N esc"},
		{"open the palette", "", ": esc"},
		{"open help", "", "? esc"},
		{"open the manual", "", "f1 enter esc esc"},
		{"open labels", "", "f esc"},
	} {
		b.Run(d.name, func(b *testing.B) {
			a := crowded(b)
			a.focus = theme.Messages
			for _, k := range strings.Fields(d.open) {
				a.Update(keyPress(k))
			}
			keys := strings.Fields(d.keys)
			frames(b, a, func(n int) tea.Msg { return keyPress(keys[n%len(keys)]) })
		})
	}
}
