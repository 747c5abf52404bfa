package ui

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
)

func TestAnInboxThatEndsWhileItIsRead(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.press("enter")
		s.wait(61 * time.Minute)
		s.see("Confirm your e-mail address", "✕ expired", "The inbox is gone")
		s.press("esc", "esc")
		s.dontSee("This message stays")
		s.press("d")
		s.see("Take this inbox off the list?")
		s.press("y")
		s.see("✓ ada is off the list")
		s.dontSee("✕ expired 1 min ago")
	})
}

func TestALimitPassesByItself(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(s *stage) {
		s.server.Fail(apitest.Limited, -1)
		s.wait(time.Minute)
		s.see("limit reached")
		s.server.Fail(apitest.None, 0)
		s.wait(2 * time.Minute)
		s.dontSee("limit reached")
		s.see("polling")
	})
}

func TestTheServiceComesBack(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(s *stage) {
		s.server.Fail(apitest.Cut, -1)
		s.wait(2 * time.Minute)
		s.see("The service is away", "again in")
		s.server.Fail(apitest.None, 0)
		s.press("r")
		s.wait(time.Second)
		s.dontSee("away")
	})
}

func TestConnectingIsTriedAgain(t *testing.T) {
	tries := 0
	set := setting{width: 120, height: 36}
	set.connect = func(s *stage) (*Connection, error) {
		if tries++; tries < 3 {
			return nil, api.ErrUnavailable
		}
		return s.connection(), nil
	}
	play(t, set, func(s *stage) {
		s.see("The service is away", "Next try in 2 s")
		s.wait(10 * time.Second)
		s.see("Waiting for mail")
	})
}

func TestSwitchingProfiles(t *testing.T) {
	set := with(ada)
	play(t, set, func(s *stage) {
		s.press("P")
		s.see("There is one profile only")
		s.app.opts.Profiles = []Profile{{Name: "local"}, {Name: "work", BaseURL: "https://work.example"}}
		s.press("P")
		s.see("local", "embedded", "work", "https://work.example")
		s.write("work")
		s.press("enter")
		if s.app.target.Profile != "work" {
			t.Errorf("connected to %+v", s.app.target)
		}
	})
}

func TestConnectingWithAKey(t *testing.T) {
	var got []Target
	var kept []string
	set := setting{width: 80, height: 24}
	set.connect = noKey
	play(t, set, func(s *stage) {
		s.see("No API key", "K connect with a key")
		connect := s.app.opts.Connect
		s.app.opts.Connect = func(ctx context.Context, target Target) (*Connection, error) {
			got = append(got, target)
			if target.Key == "secret-key" {
				return s.connection(), nil
			}
			return connect(ctx, target)
		}
		s.app.opts.SaveProfile = func(_ context.Context, p Profile, key string) error {
			kept = append(kept, p.Name+" "+p.BaseURL+" "+key)
			return nil
		}
		s.press("K")
		s.write("mail.example")
		s.press("enter")
		s.see("a URL such as https://mail.example.com")
		for range len("mail.example") {
			s.press("backspace")
		}
		s.write("https://mail.example/")
		s.press("enter")
		s.write("secret-key")
		s.dontSee("secret-key")
		s.press("enter")
		s.write("work")
		s.press("enter")
		s.dontSee("secret-key", "No API key")
		s.see("Waiting for mail")
		if want := (Target{Profile: "work", BaseURL: "https://mail.example", Key: "secret-key"}); !slices.Equal(got, []Target{want}) {
			t.Errorf("connected to %+v", got)
		}
		if !slices.Equal(kept, []string{"work https://mail.example secret-key"}) {
			t.Errorf("kept %q", kept)
		}
	})
}

func TestInboxesThatAreGoneLeaveTheList(t *testing.T) {
	play(t, with(func(s *stage) {
		s.inboxNamed("short", time.Minute)
		time.Sleep(time.Second)
		s.inboxNamed("ada", 2*time.Hour)
	}), func(s *stage) {
		s.wait(3 * time.Minute)
		s.see("short", "✕ expired 2 min ago")
		s.wait(20 * time.Minute)
		s.dontSee("short")
		s.see("ada")
	})
}

func TestQuittingWaitsForNoConnection(t *testing.T) {
	set := setting{width: 80, height: 24}
	set.connect = func(*stage) (*Connection, error) {
		time.Sleep(time.Hour) // a service that starts and hears of nothing
		return nil, errors.New("too late")
	}
	play(t, set, func(s *stage) {
		s.press("q")
		if !s.quit {
			t.Fatal("q does not quit")
		}
		began := time.Now()
		if err := s.app.world.close(); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited > 10*time.Second {
			t.Errorf("the end waited for %v", waited)
		}
	})
}
