package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/api/watch"
	"mayfly/keys"
	"mayfly/render"
	"mayfly/ui/lists"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

var now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// online are the facts of a service that is watched and has one inbox, which is selected.
func online(t testing.TB) Facts {
	server := apitest.New(apitest.Options{})
	t.Cleanup(server.Close)
	client := server.Client(api.Options{})
	f := Facts{
		Theme: uitest.Theme(t), Now: now, Store: store.New(now), Keys: table(),
		Link: &session.Link{Mode: watch.Live, Since: now.Add(-time.Hour), Session: &session.Session{
			Connection: &session.Connection{Client: client, Name: "mail.example"}, Watcher: watch.New(client, watch.Options{}),
		}},
	}
	f.Selected, _ = f.Store.Put(api.Inbox{ID: "a", Email: "ada@mail.example", ExpiresAt: now.Add(time.Hour)}, now.Add(-90*time.Second))
	f.Selected.State, f.Listed = store.Listed, f.Selected
	return f
}

func table() Table {
	never := func() string { return "never" }
	return Table{
		{ID: "new-inbox", Hint: "new", Keys: []string{"n"}, Where: Anywhere},
		{ID: "copy-address", Hint: "copy address", Keys: []string{"y"}, Where: Anywhere},
		{ID: "copy-code", Hint: "code", Keys: []string{"c"}, Where: Anywhere, Why: never},
		{ID: "send-sample", Keys: []string{"t"}, Where: Anywhere, Why: never},
		{ID: "refresh", Keys: []string{"r"}, Where: Anywhere}, {ID: "connect", Keys: []string{"K"}, Where: Anywhere},
		{ID: "pause", Keys: []string{"p"}, Where: Anywhere}, {ID: "open", Keys: []string{"enter"}, Where: Anywhere},
		{ID: "follow", Keys: []string{"F"}, Where: Anywhere}, {ID: "palette", Keys: []string{":"}, Where: Anywhere},
		{ID: "help", Hint: "help", Keys: []string{"?"}, Where: Anywhere},
	}
}

func TestWhatLeavesTheHeaderFirst(t *testing.T) {
	f := online(t)
	f.Link.Session.SMTPAddr, f.Follow, f.Newest = "127.0.0.1:2525", true, &store.Message{Delay: 3200 * time.Millisecond}
	uitest.Draw(t, []string{f.Header(nil, 120)}, 120).DontSee("a minute") // while most of it is left
	for range 31 {
		_, _ = f.Link.Session.Client.Inbox(t.Context(), "missing") // uses up the budget
	}
	for _, c := range []struct {
		w    int
		path []string
		want string
	}{
		{120, nil, " mayfly  mail.example · SMTP 127.0.0.1:2525              last mail after 3.2 s · 31/60 a minute · 60 min left · following · ● live"},
		{105, nil, " mayfly  mail.example · SMTP 127.0.0.1:2525                       31/60 a minute · 60 min left · following · ● live"},
		{80, nil, " mayfly  mail.example · SMTP 127.0.0.1:2525   60 min left · following · ● live"},
		{70, nil, " mayfly  mail.example · SMTP 127.0.0.1:2525       following · ● live"},
		{60, nil, " mayfly  mail.example · SMTP 127.0.0.1:2525          ● live"},
		{52, nil, " mayfly  mail.example · SMTP 127.0.0.1:2525   ● live"},
		{45, nil, " mayfly  mail.example · SMTP :2525   ● live"},
		{40, nil, " mayfly  mail.example            ● live"},
		{20, nil, " mayfly  ma… ● live"},
		{80, []string{"Inboxes"}, " mayfly › Inboxes              31/60 a minute · 60 min left · following · ● live"},
		{60, []string{"Inboxes", "ada"}, " ada         31/60 a minute · 60 min left · following · ● live"},
		{40, []string{"Inboxes", "ada", "Welcome"}, " ada › Welcome       following · ● live"},
		{29, []string{"Inboxes"}, " Inboxes   following · ● live"},
		{20, []string{"Inboxes", "ada", "Confirm your address"}, " ada › Conf… ● live"},
		{40, []string{"Inboxes", render.Clean(uitest.Hostile), render.Clean(uitest.Hostile)}, " 👨 ❤ end › 👨 ❤ end             ● live"},
	} {
		got := uitest.Draw(t, []string{f.Header(c.path, c.w)}, c.w).String()
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want), " ") {
			t.Errorf("%d cells:\n%s, want\n%s", c.w, got, c.want)
		}
	}
}

func TestTheTimeOfTheNextAttemptStaysInTheHeader(t *testing.T) {
	f := online(t)
	f.Link.Err, f.Link.RetryAt = api.ErrRateLimited, now.Add(12*time.Second)
	for _, c := range []struct {
		w    int
		path []string
		want string
	}{
		{80, nil, " mayfly  mail.example        60 min left · ! limit reached, again in 12 s"},
		{56, nil, " mayfly  mail.example   ! limit reached, again in 12 s"},
		{45, nil, " mayfly  mail.example   ! limit reached 12 s"},
		{40, []string{"Inboxes", "quiet-otter-x7"}, " quiet-otter-x7   ! limit reached 12 s"},
	} {
		got := uitest.Draw(t, []string{f.Header(c.path, c.w)}, c.w).String()
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want), " ") {
			t.Errorf("%d cells:\n%s, want\n%s", c.w, got, c.want)
		}
	}
}

func TestTheStateOfTheConnection(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(f *Facts)
	}{
		{"● live", func(f *Facts) {}},
		{"● polling", func(f *Facts) { f.Link.Mode = watch.Polling }},
		{"○ connected", func(f *Facts) { f.Link.Mode = watch.Unknown }},
		{"○ 3 s behind", func(f *Facts) { f.Link.Behind = now.Add(-3900 * time.Millisecond) }},
		{"○ paused", func(f *Facts) { f.Selected.Paused = true }},
		{"! failing", func(f *Facts) { f.Selected.State = store.Failing }},
		{"✕ gone", func(f *Facts) { f.Selected.State = store.Gone; f.Selected.Paused = true }},
		{"● live", func(f *Facts) { f.Selected = nil }},
		{"", func(f *Facts) { f.Selected, f.Link = nil, &session.Link{Since: now.Add(1 - startDelay)} }},
		{"○ starting", func(f *Facts) { f.Link = &session.Link{Since: now.Add(-startDelay)} }},
		{"○ no key", func(f *Facts) { f.Link.Err = fmt.Errorf("connect: %w", keys.ErrNone) }},
		{"✕ key refused", func(f *Facts) { f.Link.Err = api.ErrUnauthorized }},
		{"✕ not in the plan", func(f *Facts) { f.Link.Err = api.ErrForbidden }},
		{"! limit reached", func(f *Facts) { f.Link.Err = api.ErrRateLimited }},
		{"! limit reached, again in 10 s", func(f *Facts) { f.Link.Err, f.Link.RetryAt = api.ErrRateLimited, now.Add(10*time.Second) }},
		{"✕ offline, again in 2 min", func(f *Facts) { f.Link.Err, f.Link.RetryAt = errors.New("x"), now.Add(90*time.Second) }},
		{"✕ offline", func(f *Facts) { f.Link.Err, f.Link.RetryAt = errors.New("x"), now }},
	} {
		f := online(t)
		c.change(&f)
		row := uitest.Draw(t, []string{f.Header([]string{"x"}, 46)}, 46).String()
		if !strings.HasSuffix(row, " "+c.want) && (c.want != "" || row != " mayfly  local") {
			t.Errorf("%q, want %q at its end", row, c.want)
		}
	}
}

func TestTheTimeThatIsLeft(t *testing.T) {
	f := online(t)
	f.Link.Mode = watch.Unknown
	for left, want := range map[time.Duration]string{time.Hour: "60 min left", 30 * time.Second: "30 s left", 0: "✕ gone"} {
		f.Selected.Expires = now.Add(left)
		uitest.Draw(t, []string{f.Header(nil, 80)}, 80).See(want)
	}
	f.Selected.Expires = time.Time{}
	uitest.Draw(t, []string{f.Header(nil, 80)}, 80).DontSee("left")
	f.Selected.Expires = now.Add(lists.NearEnd)
	if got := f.Header(nil, 80); !strings.Contains(got, f.Theme.Warn.On("5 min left")) {
		t.Errorf("an end that is near does not stand out: %q", got)
	}
}

func TestWhyAListIsEmpty(t *testing.T) {
	broken := errors.New("list messages: " + uitest.Hostile + strings.Repeat(" a long reason", 9))
	for _, c := range []struct {
		name   string
		want   string // its rows
		change func(f *Facts)
	}{
		{"just started", "", func(f *Facts) { f.Link = &session.Link{Since: now} }},
		{"starting", "Starting…", func(f *Facts) { f.Link = &session.Link{Since: now.Add(-startDelay)} }},
		{"waiting", "Mail sent to this address appears|here.|Waiting for mail · 1 min||y copies the address", func(f *Facts) {}},
		{"copied", "Mail sent to this address appears|here.|Waiting for mail · 5 s||y copies the address", func(f *Facts) { f.Listed.CopiedAt = now.Add(-5 * time.Second) }},
		{"with SMTP", "Send mail to it by SMTP h:25|Waiting for mail · 1 min||y copies the address||Point an application's SMTP settings|", func(f *Facts) { f.Link.Session.SMTPAddr, f.Link.Session.Local = "h:25", true }},
		{"with a long address of SMTP", "Send mail to it by|SMTP [2001:db8:1234:5678::1]:2525|Waiting", func(f *Facts) { f.Link.Session.SMTPAddr = "[2001:db8:1234:5678::1]:2525" }},
		{"with samples", "t sends a sample message", func(f *Facts) { f.Keys.ByID("send-sample").Why = nil }},
		{"all", "No mail in any inbox yet.", func(f *Facts) { f.Listed = nil }},
		{"filtered", "No matches. esc clears the filter.", func(f *Facts) { f.Filtered = true }},
		{"no inbox", "There are no inboxes.||n creates one and copies its address", func(f *Facts) { f.Store.Forget("a"); f.Listed = nil }},
		{"making one", "Making an inbox…", func(f *Facts) { f.Store.Forget("a"); f.Listed, f.Pending = nil, "making an inbox…" }},
		{"gone", "This inbox is gone, and its messages|with it.||n creates a new one", func(f *Facts) { f.Listed.Expires = now }},
		{"paused", "Watching is paused for this inbox.||p resumes|r checks once", func(f *Facts) { f.Listed.Paused = true }},
		{"failing", "list messages:  👨 ❤ end a long|", func(f *Facts) { f.Listed.State, f.Listed.Err = store.Failing, broken }},
		{"failing", "||r tries again", func(f *Facts) { f.Listed.State, f.Listed.Err = store.Failing, broken }},
		{"no key", "No API key||This service needs one.||K connect with a key|r check again||Or set MAYFLY_API_KEY, or run:|mayfly key set", func(f *Facts) { f.Link.Err = keys.ErrNone }},
		{"no keyring", "No API key||This service needs one, and there is|no keyring to keep it in.|", func(f *Facts) { f.Link.Err = fmt.Errorf("%w: %w", keys.ErrNone, keys.ErrNoKeyring) }},
		{"no keyring", "|Or set MAYFLY_API_KEY, or run:|mayfly key set --file", func(f *Facts) { f.Link.Err = fmt.Errorf("%w: %w", keys.ErrNone, keys.ErrNoKeyring) }},
		{"refused", "The service refused the key||the API key is missing or invalid||K use another key|r try again", func(f *Facts) { f.Link.Err = api.ErrUnauthorized }},
		{"not in the plan", "The plan does not allow this||the plan of the API key does not|allow this||K use another key|r try again", func(f *Facts) { f.Link.Err = api.ErrForbidden }},
		{"limited", "Request limit reached||Watching resumes when the service|allows it.||Next try in 2 s||r try now", func(f *Facts) { f.Link.Err, f.Link.RetryAt = api.ErrRateLimited, now.Add(2*time.Second) }},
		{"offline", "The service is unavailable||list messages:  👨 ❤ end", func(f *Facts) { f.Link.Err = broken }},
		{"offline", "||r try now|K connect to another", func(f *Facts) { f.Link.Err = broken }},
		{"a key without a key", "There are no inboxes.||: new-inbox creates one and copies it…", func(f *Facts) {
			f.Store.Forget("a")
			f.Listed = nil
			f.Keys.Bind(map[string][]string{"new-inbox": nil})
		}},
	} {
		f := online(t)
		c.change(&f)
		for _, w := range []int{16, 40, 80} {
			rows := theme.Blank(theme.Rect{W: w, H: 30})
			theme.Place(rows, w, 0, f.Messages(w-4))
			var got []string
			for _, row := range uitest.Draw(t, rows, w).Rows {
				got = append(got, strings.TrimPrefix(row, "  "))
			}
			if text := strings.TrimRight(strings.Join(got, "|"), "|"); w == 40 && (!strings.Contains(text+"|", c.want) || c.want == "" && text != "") {
				t.Errorf("%s:\n%s, want\n%s", c.name, text, c.want)
			}
		}
	}
}

func TestWhyTheReaderIsEmpty(t *testing.T) {
	f := online(t)
	if got := f.Reader(60); got != nil {
		t.Errorf("without messages it says %q", got)
	}
	f.Store.Apply(watch.Event{Kind: watch.Listed, InboxID: "a", Messages: []api.Summary{{ID: "1"}}}, now)
	if got := strings.Join(f.Reader(80), " "); got != f.Theme.Dim.On("Nothing is open. enter opens a message; F follows the newest.") {
		t.Errorf("it says %q", got)
	}
	f.Link.Session = nil
	if got := f.Reader(60); got != nil {
		t.Errorf("without a session it says %q", got)
	}
}

func TestWhenTheTextsChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		want   time.Duration
		listed bool
		change func(f *Facts)
	}{
		{"waiting", 30 * time.Second, true, func(f *Facts) {}},
		{"waiting, off the screen", 0, false, func(f *Facts) {}},
		{"the time left in the header", time.Second / 2, false, func(f *Facts) { f.Selected, f.Listed.Expires = f.Listed, now.Add(30500*time.Millisecond) }},
		{"gone", 0, true, func(f *Facts) { f.Selected, f.Listed.Expires = f.Listed, now }},
		{"all", 0, true, func(f *Facts) { f.Listed = nil }},
		{"starting", startDelay, true, func(f *Facts) { f.Link = &session.Link{Since: now} }},
		{"started", 0, true, func(f *Facts) { f.Link = &session.Link{Since: now.Add(-startDelay)} }},
		{"behind", 100 * time.Millisecond, false, func(f *Facts) { f.Link.Behind = now.Add(-3900 * time.Millisecond) }},
		{"a countdown", 500 * time.Millisecond, false, func(f *Facts) { f.Link.Err, f.Link.RetryAt = api.ErrRateLimited, now.Add(2500*time.Millisecond) }},
	} {
		f := online(t)
		f.Selected = nil
		c.change(&f)
		var got, want theme.Alarm
		want.In(c.want)
		if f.Wake(&got, c.listed); got != want {
			t.Errorf("%s: it wakes at %+v, want %v", c.name, got, c.want)
		}
	}
}

// BenchmarkDraw draws the header and the footer.
func BenchmarkDraw(b *testing.B) {
	f := online(b)
	var footer Footer
	footer.Show(Success, "copied ada@mail.example (OSC 52)", now)
	for b.Loop() {
		f.Header(nil, 200)
		footer.Draw(f.Theme, f.Keys, theme.Messages, 200, now)
	}
}
