package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/api/watch"
	"mayfly/keys"
	"mayfly/render"
	"mayfly/ui/host"
	"mayfly/ui/lists"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

var now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// online is the application with a service that is watched and has one inbox, which is selected.
func online(t testing.TB) *app { return onlineAt(t, apitest.Options{}) }

func onlineAt(t testing.TB, o apitest.Options) *app {
	server := apitest.New(t, o)
	client := server.Client(api.Options{})
	a := starting(t, now.Add(-time.Hour))
	a.connection.Use(session.Connected{Session: &session.Session{
		Service: &session.Service{Client: client, Name: "mail.example"}, Watcher: watch.New(client, watch.Options{}), Mode: watch.Live,
	}}, now.Add(-time.Hour))
	i, _ := a.store.Put(api.Inbox{ID: "a", Email: "ada@mail.example", ExpiresAt: now.Add(time.Hour)}, now.Add(-90*time.Second))
	i.State = store.Listed
	a.selectInbox("a")
	return a
}

// starting is the application before there is a connection.
func starting(t testing.TB, since time.Time) *app {
	a := newApp(t.Context(), Options{}, &host.Host{})
	a.theme, a.now, a.table = uitest.Theme(t), now, table{actions: fewActions()}
	a.connection = session.NewConnection(t.Context(), session.Options{}, a.log, since)
	return a
}

// fail makes the connection fail.
func fail(err error, retry time.Time) func(a *app) {
	return func(a *app) { a.connection.Apply(watch.Event{Kind: watch.Failed, Err: err, RetryAt: retry}) }
}

func fewActions() []*action {
	never := func() string { return "never" }
	return []*action{
		{ID: "new-inbox", Hint: "new", Keys: []string{"n"}, Where: anywhere},
		{ID: "copy-address", Hint: "copy address", Keys: []string{"y"}, Where: anywhere},
		{ID: "copy-code", Hint: "code", Keys: []string{"c"}, Where: anywhere, DisabledReason: never},
		{ID: "send-sample", Keys: []string{"t"}, Where: anywhere, DisabledReason: never},
		{ID: "refresh", Keys: []string{"r"}, Where: anywhere}, {ID: "connect", Keys: []string{"K"}, Where: anywhere},
		{ID: "pause", Keys: []string{"p"}, Where: anywhere}, {ID: "open", Keys: []string{"enter"}, Where: anywhere},
		{ID: "follow", Keys: []string{"F"}, Where: anywhere}, {ID: "palette", Keys: []string{":"}, Where: anywhere},
		{ID: "help", Hint: "help", Keys: []string{"?"}, Where: anywhere},
	}
}

func TestWhatLeavesTheHeaderFirst(t *testing.T) {
	unstated := online(t)
	for range 31 {
		_, _ = unstated.session().Client.Inbox(t.Context(), "missing")
	}
	uitest.Draw(t, []string{unstated.header("", 120)}, 120).DontSee("a minute", "of 60") // the service has named no limit
	a := onlineAt(t, apitest.Options{Extensions: true, RequestsPerMinute: 60})
	a.session().SMTP, a.arrivals.follow, a.arrivals.newest = smtpAt("127.0.0.1:2525", ""), true, &store.Message{Delay: 3200 * time.Millisecond}
	uitest.Draw(t, []string{a.header("", 120)}, 120).DontSee("a minute") // while most of it is left
	for range 31 {
		_, _ = a.session().Client.Inbox(t.Context(), "missing") // uses up the budget
	}
	moved := online(t)
	moved.session().SMTP = smtpAt("127.0.0.1:2526", " (2525 was taken)")
	limited := online(t)
	fail(api.ErrRateLimited, now.Add(12*time.Second))(limited)
	for _, c := range []struct {
		a           *app
		w           int
		place, want string
	}{
		{a, 140, "", " mayfly  mail.example · SMTP 127.0.0.1:2525  last mail after 3.2 s · 31 of 60 requests this minute · 60 min left · following · ● live"},
		{a, 120, "", " mayfly  mail.example · SMTP 127.0.0.1:2525  31 of 60 requests this minute · 60 min left · following · ● live"},
		{a, 80, "", " mayfly  mail.example · SMTP 127.0.0.1:2525   60 min left · following · ● live"},
		{a, 70, "", " mayfly  mail.example · SMTP 127.0.0.1:2525       following · ● live"},
		{a, 60, "", " mayfly  mail.example · SMTP 127.0.0.1:2525          ● live"},
		{a, 52, "", " mayfly  mail.example · SMTP 127.0.0.1:2525   ● live"},
		{a, 45, "", " mayfly  mail.example · SMTP :2525   ● live"},
		{a, 40, "", " mayfly  mail.example            ● live"},
		{a, 20, "", " mayfly  ma… ● live"},
		{a, 90, "Inboxes", " mayfly › Inboxes  31 of 60 requests this minute · 60 min left · following · ● live"},
		{a, 80, "ada", " ada  31 of 60 requests this minute · 60 min left · following · ● live"},
		{a, 29, "Inboxes", " Inboxes   following · ● live"},
		{a, 20, "confirm-your-address", " confirm-yo… ● live"},
		{a, 40, render.Clean(uitest.Hostile), " 👨 ❤ end   following · ● live"},
		{moved, 80, "", " mayfly  mail.example · SMTP 127.0.0.1:2526 (2525 was taken)   ● live"},
		{moved, 62, "", " mayfly  mail.example · SMTP :2526 (2525 was taken)   ● live"},
		{moved, 52, "", " mayfly  mail.example · SMTP 127.0.0.1:2526   ● live"},
		// What is wrong stands alone, and the time of the next attempt stays.
		{limited, 80, "", " mayfly  mail.example   ! Rate limit reached: retry in 12 s"},
		{limited, 56, "", " mayfly  mail.example   ! limit reached 12 s"},
		{limited, 45, "", " mayfly  mail.example   ! limit reached 12 s"},
		{limited, 40, "quiet-otter-x7", " quiet-otter-x7   ! limit reached 12 s"},
	} {
		if c.a.focus = theme.Messages; c.place == "Inboxes" {
			c.a.focus = theme.Inboxes
		}
		got := uitest.Draw(t, []string{c.a.header(c.place, c.w)}, c.w).String()
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want), " ") {
			t.Errorf("%d cells:\n%s, want\n%s", c.w, got, c.want)
		}
	}
}

func TestTheStateOfTheConnection(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(a *app)
	}{
		{"● live", func(a *app) {}},
		{"● polling", func(a *app) { a.session().Mode = watch.Polling }},
		{"○ connected", func(a *app) { a.session().Mode = watch.Unknown }},
		{"○ 3 s behind", func(a *app) { a.session().Behind = now.Add(-3900 * time.Millisecond) }},
		{"○ paused", func(a *app) { a.inboxes.Inbox().Paused = true }},
		{"! failing", func(a *app) { a.inboxes.Inbox().State = store.Failing }},
		{"✕ deleted", func(a *app) { a.inboxes.Inbox().State = store.Gone; a.inboxes.Inbox().Paused = true }},
		{"● live", func(a *app) { a.selectInbox(store.All) }},
		{"", func(a *app) { *a = *starting(t, now.Add(1-startDelay)) }},
		{"○ connecting", func(a *app) { *a = *starting(t, now.Add(-startDelay)) }},
		{"○ No API key", fail(fmt.Errorf("connect: %w", keys.ErrNone), time.Time{})},
		{"✕ The service rejected the API key", fail(api.ErrUnauthorized, time.Time{})},
		{"✕ The plan does not allow this", fail(api.ErrForbidden, time.Time{})},
		{"! Rate limit reached", fail(api.ErrRateLimited, time.Time{})},
		{"! Rate limit reached: retry in 10 s", fail(api.ErrRateLimited, now.Add(10*time.Second))},
		{"✕ Offline: retry in 2 min", fail(errors.New("x"), now.Add(90*time.Second))},
		{"✕ Offline", fail(errors.New("x"), now)},
		{"✕ The service is failing: retry in 5 s", fail(&api.Error{Op: "list", Status: 500}, now.Add(5*time.Second))},
		{"✕ The service is failing", fail(fmt.Errorf("list: %w", api.ErrUnexpected), now)},
	} {
		a := online(t)
		c.change(a)
		row := uitest.Draw(t, []string{a.header("x", 66)}, 66).String()
		if !strings.HasSuffix(row, " "+c.want) && (c.want != "" || row != " mayfly  local") {
			t.Errorf("%q, want %q at its end", row, c.want)
		}
	}
}

func TestTheTimeThatIsLeft(t *testing.T) {
	a := online(t)
	a.session().Mode = watch.Unknown
	for left, want := range map[time.Duration]string{time.Hour: "60 min left", 30 * time.Second: "30 s left", 0: "✕ expired"} {
		a.inboxes.Inbox().Expires = now.Add(left)
		uitest.Draw(t, []string{a.header("", 80)}, 80).See(want)
	}
	a.inboxes.Inbox().Expires = time.Time{}
	uitest.Draw(t, []string{a.header("", 80)}, 80).DontSee("left")
	a.inboxes.Inbox().Expires = now.Add(lists.NearEnd)
	if got := a.header("", 80); !strings.Contains(got, a.theme.Warn.On("5 min left")) {
		t.Errorf("an end that is near does not stand out: %q", got)
	}
}

func TestWhyAListIsEmpty(t *testing.T) {
	broken := errors.New("list messages: " + uitest.Hostile + strings.Repeat(" a long reason", 9))
	for _, c := range []struct {
		name   string
		want   string // its rows
		change func(a *app)
	}{
		{"just started", "", func(a *app) { *a = *starting(t, now) }},
		{"connecting", "Connecting…", func(a *app) { *a = *starting(t, now.Add(-startDelay)) }},
		{"waiting", "Mail sent to this address appears|here.|Waiting for mail · 1 min||y copies the address", func(a *app) {}},
		{"copied", "Mail sent to this address appears|here.|Waiting for mail · 1 min||y copies the address", func(a *app) { a.inboxes.Inbox().CopiedAt = now.Add(-5 * time.Second) }},
		{"with SMTP", "Send mail to it via SMTP h:25|Waiting for mail · 1 min||y copies the address||Point your application's SMTP", func(a *app) { a.session().SMTP, a.session().Local = smtpAt("h:25", ""), true }},
		{"on another port", "Send mail to it over|SMTP 127.0.0.1:2526 (2525 was taken)|Waiting", func(a *app) {
			a.session().SMTP = smtpAt("127.0.0.1:2526", " (2525 was taken)")
		}},
		{"with a long address of SMTP", "Send mail to it over|SMTP [2001:db8:1234:5678::1]:2525|Waiting", func(a *app) { a.session().SMTP = smtpAt("[2001:db8:1234:5678::1]:2525", "") }},
		{"with samples", "t sends a sample message", func(a *app) { a.table.byID("send-sample").DisabledReason = nil }},
		{"all", "No mail in any inbox yet.", func(a *app) { a.selectInbox(store.All) }},
		{"filtered", "No matches. esc clears the filter.", func(a *app) { a.messages.StartTyping(); a.messages.Type(tea.PasteMsg{Content: "x"}) }},
		{"no inbox", "There are no inboxes.||n creates one and copies its address", func(a *app) { a.store.Forget("a"); a.updateLists() }},
		{"making one", "Creating an inbox…", func(a *app) {
			a.store.Forget("a")
			a.updateLists()
			begin(&a.footer, &session.Request{What: "creating an inbox"})
		}},
		{"gone", "This inbox expired or was deleted,|with its messages.||n creates a new one", func(a *app) { a.inboxes.Inbox().Expires = now }},
		{"paused", "Watching is paused for this inbox.||p resumes|r checks once", func(a *app) { a.inboxes.Inbox().Paused = true }},
		{"failing", "list messages:  👨 ❤ end a long|", func(a *app) { a.inboxes.Inbox().State, a.inboxes.Inbox().Err = store.Failing, broken }},
		{"failing", "||r tries again", func(a *app) { a.inboxes.Inbox().State, a.inboxes.Inbox().Err = store.Failing, broken }},
		{"no key", "No API key||This service needs one.||K connect with a key|r check again||Or set MAYFLY_API_KEY, or run:|mayfly key set", fail(keys.ErrNone, time.Time{})},
		{"no keyring", "No API key||This service needs one, and there is|no keyring to store it.|", fail(fmt.Errorf("%w: %w", keys.ErrNone, keys.ErrNoKeyring), time.Time{})},
		{"no keyring", "|Or set MAYFLY_API_KEY, or run:|mayfly key set --file", fail(fmt.Errorf("%w: %w", keys.ErrNone, keys.ErrNoKeyring), time.Time{})},
		{"refused", "The service rejected the API key||the API key is missing or invalid;|`mayfly key status` shows which API|key was used and its source, `mayfly|key set` stores another||K use another key|r try again", fail(api.ErrUnauthorized, time.Time{})},
		{"not in the plan", "The plan does not allow this||the plan of the API key does not|allow this; use a key with a plan|that allows this||K use another key|r try again", fail(api.ErrForbidden, time.Time{})},
		{"not in the plan, over SSH", "allow this; use a key with a plan|that allows this||r try again", func(a *app) {
			restrictAway(a.table.actions)
			fail(api.ErrForbidden, time.Time{})(a)
		}},
		{"limited", "Rate limit reached: retry in 2 s||Watching resumes when the service|allows it.", fail(api.ErrRateLimited, now.Add(2*time.Second))},
		{"offline", "Offline||list messages:  👨 ❤ end", fail(broken, time.Time{})},
		{"offline", "||r try now|K connect to another", fail(broken, time.Time{})},
		{"a key without a key", "There are no inboxes.||: new-inbox creates one and copies it…", func(a *app) {
			a.store.Forget("a")
			a.updateLists()
			a.table.bind(map[string][]string{"new-inbox": nil})
		}},
	} {
		a := online(t)
		c.change(a)
		for _, w := range []int{16, 40, 80} {
			var rows []string
			for _, line := range a.noMessages(w - 4) {
				rows = append(rows, theme.Fit("  "+line, w))
			}
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
