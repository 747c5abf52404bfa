package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/api/watch"
	"mayfly/internal/local"
	"mayfly/internal/registry"
	"mayfly/keys"
	"mayfly/ui/host"
)

// scene is a connection to services that are told apart by their base URLs.
type scene struct {
	*Connection
	t        *testing.T
	server   *apitest.Server
	takes    map[string]time.Duration // how long connecting to a service takes
	fails    map[string]error
	profiles []string

	mu    sync.Mutex // connections are made side by side
	asked []Target
	open  int // connections
}

// play runs a scene in a bubble of faked time, and fails when a connection outlives it.
func play(t *testing.T, do func(s *scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{t: t, server: apitest.New(t, apitest.Options{Extensions: true}), takes: map[string]time.Duration{}, fails: map[string]error{}}
		defer s.server.Close()
		s.Connection = NewConnection(t.Context(), Options{Connect: s.connection, SaveProfile: func(_ context.Context, p Profile, key string, where keys.Place) error {
			s.profiles = append(s.profiles, strings.TrimSpace(p.Name+" "+p.BaseURL+" "+key+[]string{"", " in the file"}[where]))
			return s.fails["save"]
		}}, slog.New(slog.DiscardHandler), time.Now())
		do(s)
		if s.Close(); s.open != 0 {
			t.Errorf("%d connections are left open", s.open)
		}
	})
}

func (s *scene) connection(_ context.Context, target Target) (*Service, error) {
	s.mu.Lock()
	s.asked = append(s.asked, target)
	s.mu.Unlock()
	time.Sleep(s.takes[target.BaseURL])
	if err := s.fails[target.BaseURL]; err != nil {
		return nil, err
	}
	client, err := api.New("https://"+target.BaseURL+".example", apitest.Key, api.Options{Transport: s.server.Transport()})
	if err != nil {
		return nil, err
	}
	s.count(1)
	return &Service{
		Client: client, Registry: registry.Open(s.t.TempDir(), "test", client.BaseURL()), Name: target.BaseURL, Profile: target.Profile, Local: strings.HasPrefix(target.BaseURL, "local"),
		Close: func(context.Context) error { s.count(-1); return nil },
	}, nil
}

func (s *scene) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
}

// use waits for an attempt and takes its outcome.
func (s *scene) use(cmd tea.Cmd) Change {
	m, ok := cmd().(Connected)
	if !ok {
		return None
	}
	change, cmd := s.Use(m, time.Now())
	s.run(cmd)
	synctest.Wait()
	return change
}

// run runs commands side by side; what they bring back is dropped.
func (s *scene) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		if batch, ok := cmd().(tea.BatchMsg); ok {
			for _, c := range batch {
				s.run(c)
			}
		}
	}()
}

// choose connects to a service that the user chose.
func (s *scene) choose(target Target, keep bool) (m Connected) {
	do(s.ConnectTo(target, keep, time.Now(), func(got Connected) tea.Cmd { m = got; return nil }))
	return m
}

func told(m Connected) tea.Cmd { return func() tea.Msg { return m } }

func TestConnectingIsTriedAgainLessAndLessOften(t *testing.T) {
	play(t, func(s *scene) {
		s.fails["a"] = api.ErrUnavailable
		cmd := s.Connect(Target{BaseURL: "a"}, time.Now())
		if s.Retry(time.Now()) != nil {
			t.Error("it is tried again while it is tried")
		}
		for _, want := range []time.Duration{2, 4, 8, 16, 30, 30} {
			if change := s.use(cmd); change != None || s.Session != nil || s.Trouble() != Unavailable {
				t.Fatalf("after a failure: %v, %v", change, s.Err)
			}
			now, wait := time.Now(), want*time.Second
			if s.state.retryAt.Sub(now) != wait || s.Countdown(now) != fmt.Sprintf("%d s", want) || s.Retry(now.Add(wait-1)) != nil {
				t.Errorf("it is tried again after %v and not %v, %q", s.state.retryAt.Sub(now), wait, s.Countdown(now))
			}
			time.Sleep(wait)
			if cmd = s.Retry(time.Now()); cmd == nil || s.Countdown(time.Now()) != "" {
				t.Fatal("it is not tried again")
			}
		}
		delete(s.fails, "a")
		if change := s.use(cmd); change != First || s.Session == nil || s.Err != nil || s.Target.BaseURL != "a" || s.Retry(time.Now().Add(time.Hour)) != nil {
			t.Errorf("connected at last: %v, %+v", change, s.Connection)
		}
		s.Apply(watch.Event{Kind: watch.Failed, Err: api.ErrUnavailable, RetryAt: time.Now().Add(time.Second)})
		if s.Trouble() != Unavailable || s.Retry(time.Now().Add(time.Hour)) != nil {
			t.Errorf("the watcher tries again, and so does the connection: %+v", s.Connection)
		}
	})
}

func TestWhatIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		err     error
		trouble Trouble
		retried bool
		explain string
	}{
		{nil, NoTrouble, false, ""},
		{fmt.Errorf("connect: %w", keys.ErrNone), NoKey, false, "connect: " + keys.ErrNone.Error()},
		{fmt.Errorf("x: %w", api.ErrUnauthorized), KeyRefused, false, "x: " + api.ErrUnauthorized.Error()},
		{api.ErrForbidden, NotInPlan, false, api.ErrForbidden.Error()},
		{api.ErrRateLimited, Limited, true, "Rate limit reached"}, {api.ErrUnexpected, Faulty, true, api.ErrUnexpected.Error()},
		{api.ErrUnavailable, Unavailable, true, api.ErrUnavailable.Error()},
		{fmt.Errorf("%w: %w", api.ErrUnavailable, local.ErrStopped), Stopped, false, api.ErrUnavailable.Error() + ": " + local.ErrStopped.Error()},
		{fmt.Errorf("get: %w", context.DeadlineExceeded), Unavailable, true, "The service did not answer in time"},
		{errors.New("a\x1b[31m\nb"), Unavailable, true, "a b"},
	} {
		if got := (&Connection{state: state{Err: c.err}}).Trouble(); got != c.trouble || got.Temporary() != c.retried {
			t.Errorf("%v is trouble %d", c.err, got)
		}
		if c.err == nil {
			continue
		}
		if got := Explain(c.err); got != c.explain {
			t.Errorf("%q, want %q", got, c.explain)
		}
		play(t, func(s *scene) {
			s.fails["a"] = c.err
			s.use(s.Connect(Target{BaseURL: "a"}, time.Now()))
			if got := s.Retry(time.Now().Add(time.Hour)) != nil; got != c.retried {
				t.Errorf("%v: tried again: %v", c.err, got)
			}
			delete(s.fails, "a")
			if s.use(s.Connect(s.Asked, time.Now())) != First {
				t.Errorf("%v: the user cannot try again", c.err)
			}
		})
	}
}

func TestAnAttemptThatIsOvertakenIsDropped(t *testing.T) {
	play(t, func(s *scene) {
		s.takes["slow"] = time.Minute
		slow, late := s.Connect(Target{BaseURL: "slow"}, time.Now()), make(chan tea.Msg, 1)
		go func() { late <- slow() }()
		if change := s.use(s.Connect(Target{BaseURL: "fast"}, time.Now())); change != First {
			t.Fatalf("the second attempt is %v", change)
		}
		m := (<-late).(Connected)
		if m.Session == nil || s.open != 2 {
			t.Fatalf("the first attempt was given up: %+v", m)
		}
		change, cmd := s.Use(m, time.Now())
		if cmd(); change != None || s.Session.Name != "fast" || s.open != 1 {
			t.Errorf("the first attempt is %v, the session with %s, %d connections are open", change, s.Session.Name, s.open)
		}
		s.fails["x"] = api.ErrUnavailable
		failed := s.Connect(Target{BaseURL: "x"}, time.Now())().(Connected)
		again := s.Connect(Target{BaseURL: "fast"}, time.Now())
		if change, _ := s.Use(failed, time.Now()); change != None || s.Err != nil {
			t.Errorf("a failure that was overtaken is %v, %v", change, s.Err)
		}
		s.use(again)
	})
}

func TestWhichServiceItIs(t *testing.T) {
	for _, c := range []struct {
		before, after Target
		want          Change
	}{
		{Target{BaseURL: "a"}, Target{BaseURL: "a"}, Again},
		{Target{BaseURL: "a"}, Target{BaseURL: "b"}, Other},
		{Target{BaseURL: "a", Profile: "x"}, Target{BaseURL: "a", Profile: "y"}, Other},
		{Target{BaseURL: "a"}, Target{BaseURL: "a", Key: "another"}, Again},
		{Target{BaseURL: "local-1"}, Target{BaseURL: "local-2"}, Again}, // another process owns it
		{Target{BaseURL: "local-1"}, Target{BaseURL: "a"}, Other},
		{Target{BaseURL: "a"}, Target{BaseURL: "local-1"}, Other},
	} {
		play(t, func(s *scene) {
			if s.use(s.Connect(c.before, time.Now())) != First || s.open != 1 {
				t.Fatal("the first connection is not the first")
			}
			s.Session.Mode = watch.Live
			if got := s.use(s.Connect(c.after, time.Now())); got != c.want || s.open != 1 || s.Target != c.after || s.Session.Mode != watch.Unknown {
				t.Errorf("from %+v to %+v: %v, %d connections are open", c.before, c.after, got, s.open)
			}
		})
	}
}

func TestAServiceThatCannotBeHadLeavesTheOneThatWorks(t *testing.T) {
	play(t, func(s *scene) {
		s.use(s.Connect(Target{BaseURL: "a"}, time.Now()))
		s.fails["b"] = api.ErrUnauthorized
		if change := s.use(s.Connect(Target{BaseURL: "b"}, time.Now())); change != None || s.Session == nil || s.Err != nil || s.Session.Name != "a" || s.Retry(time.Now().Add(time.Hour)) != nil {
			t.Errorf("it is %v, the session with %s, %v", change, s.Session.Name, s.Err)
		}
		delete(s.fails, "b")
		if s.use(s.Connect(s.Asked, time.Now())) != Other || s.Session.Name != "b" {
			t.Error("trying again does not try what was tried last")
		}
	})
}

func TestTheEndClosesEverySession(t *testing.T) {
	play(t, func(s *scene) {
		s.takes["slow"] = time.Second
		s.use(s.Connect(Target{BaseURL: "a"}, time.Now()))
		s.run(s.Connect(Target{BaseURL: "slow"}, time.Now()))
		s.run(s.Connect(Target{BaseURL: "slow"}, time.Now()))
		synctest.Wait()
		began := time.Now()
		s.Close()
		if d := time.Since(began); d != time.Second || s.open != 0 || len(s.asked) != 3 {
			t.Errorf("the end took %v, and left %d of %d connections open", d, s.open, len(s.asked))
		}
		if msg := s.Connect(Target{BaseURL: "a"}, time.Now())(); msg != nil || len(s.asked) != 3 {
			t.Errorf("after the end a connection is made: %+v", msg)
		}
	})
	play(t, func(s *scene) {
		s.takes["slow"], s.fails["slow"] = time.Hour, api.ErrUnavailable
		s.run(s.Connect(Target{BaseURL: "slow"}, time.Now()))
		synctest.Wait()
		began := time.Now()
		if s.Close(); time.Since(began) != makingTimeout {
			t.Errorf("the end waited %v for a service that does not answer", time.Since(began))
		}
		time.Sleep(time.Hour)
	})
	play(t, func(s *scene) {
		s.takes["slow"] = time.Minute
		s.run(s.Connect(Target{BaseURL: "slow"}, time.Now()))
		synctest.Wait()
		s.Close()
		time.Sleep(time.Hour)
		if synctest.Wait(); s.open != 0 {
			t.Errorf("%d connections made after the end are left open", s.open)
		}
	})
}

func TestTheListOfInboxesComesWithAConnection(t *testing.T) {
	play(t, func(s *scene) {
		in, err := s.server.Create("ada", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		m := s.Connect(Target{BaseURL: "a"}, time.Now())().(Connected)
		if len(m.Inboxes) != 1 || m.Inboxes[0].ID != in.ID || m.Err != nil {
			t.Errorf("it came with %+v, %v", m.Inboxes, m.Err)
		}
		s.server.Fail(apitest.Forbidden, -1)
		m = s.Connect(Target{BaseURL: "a"}, time.Now())().(Connected)
		if s.Use(m, time.Now()); m.Session == nil || s.Trouble() != NotInPlan || s.Session == nil {
			t.Errorf("a connection without the list is %+v", m)
		}
	})
}

func TestAProfileIsKept(t *testing.T) {
	for want, failure := range map[string]error{"[{home b} {work a}]": nil, "[{work old} {home b}]": errors.New("disk full")} {
		play(t, func(s *scene) {
			s.fails["save"] = failure
			s.options.Profiles = []Profile{{"work", "old"}, {"home", "b"}}
			m := s.choose(Target{Profile: "work", BaseURL: "a", Key: "k"}, true)
			if s.use(func() tea.Msg { return m }) != First || s.asked[0] != (Target{Profile: "work", BaseURL: "a", Key: "k"}) {
				t.Errorf("it connects to %+v", s.asked)
			}
			if got := s.Outcome(m); got != (host.Result{Text: "connected to a, saved as a profile", Err: failure}) {
				t.Errorf("it is kept: %+v", got)
			}
			if got := fmt.Sprint(s.profiles, s.Profiles()); got != "[work a k] "+want {
				t.Errorf("kept are %s", got)
			}
			s.use(told(s.choose(Target{BaseURL: "b"}, false)))
			s.fails["c"] = errors.New("no such host")
			s.use(told(s.choose(Target{Profile: "c", BaseURL: "c"}, true)))
			if len(s.profiles) != 1 {
				t.Error("a service that is not to be kept is, or one that was not reached")
			}
		})
	}
	play(t, func(s *scene) { // without a keyring
		s.fails["save"] = fmt.Errorf("%w: locked", keys.ErrNoKeyring)
		m := s.choose(Target{Profile: "work", BaseURL: "a", Key: "k"}, true)
		s.use(func() tea.Msg { return m })
		delete(s.fails, "save")
		var got host.Result
		do(s.KeepInFile(m, func(d host.Result) tea.Cmd { got = d; return nil }))
		if !m.LacksKeyring() || got != (host.Result{Text: "saved the API key to a file only you can read"}) || fmt.Sprint(s.profiles, s.Profiles()) != "[work a k work a k in the file] [{work a}]" {
			t.Errorf("it led to %+v, kept %q, listed %v", got, s.profiles, s.Profiles())
		}
	})
}

func TestWhyTheServiceCannotBeAsked(t *testing.T) {
	now := time.Now()
	soon := now.Add(30 * time.Second)
	for _, c := range []struct {
		connection *Connection
		want       string
	}{
		{&Connection{}, "Not connected yet"},
		{&Connection{state: state{Err: keys.ErrNone}}, "No API key: K connects with one"},
		{&Connection{state: state{Err: api.ErrUnauthorized}}, "Not connected: r tries again"},
		{&Connection{state: state{Err: api.ErrUnavailable, retryAt: soon}}, "Offline: retry in 30 s, r tries now"},
		{&Connection{Session: &Session{}, state: state{Err: api.ErrUnavailable, retryAt: soon}}, "Offline: retry in 30 s, r tries now"},
		{&Connection{Session: &Session{}, state: state{Err: api.ErrRateLimited, retryAt: soon}}, "Rate limit reached: retry in 30 s"},
		{&Connection{Session: &Session{}, state: state{Err: api.ErrUnavailable, retryAt: now}}, ""},
		{&Connection{Session: &Session{}}, ""},
	} {
		got := c.connection.RequireService("K", "r", now)
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if len(got) > 40-2 {
			t.Errorf("%q is cut on a screen of 40", got)
		}
	}
}
