package watch_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/api/watch"
)

func TestAwaitPassesOverAMessageThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := apitest.New(apitest.Options{})
		defer service.Close()
		client := service.Client(api.Options{})
		inbox, err := service.Create("ada", time.Hour)
		must(t, err)
		older, err := service.Deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "older"})
		must(t, err)
		time.Sleep(time.Second)
		newer, err := service.Deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "newer"})
		must(t, err)
		service.FailIf(apitest.HTML, -1, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, newer.ID) })
		if m, err := watch.Await(t.Context(), client, inbox.ID, watch.Newest(1), watch.Match{}); err != nil || m.ID != older.ID {
			t.Errorf("%+v, %v", m, err)
		}

		before := len(service.Requests())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = watch.Await(ctx, client, inbox.ID, watch.Newest(1), watch.Match{Subject: "newer"})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, api.ErrUnexpected) {
			t.Errorf("it could not be read all the time: %v", err)
		}
		if n := len(service.Requests()) - before; n > 30 {
			t.Errorf("%d requests in a minute", n)
		}
	})
}

func TestAwaitAsksOnceWhetherAMessageIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := apitest.New(apitest.Options{})
		defer service.Close()
		inbox, err := service.Create("ada", time.Hour)
		must(t, err)
		deliver := func(subject string) {
			if _, err := service.Deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: subject}); err != nil {
				t.Error(err)
			}
		}
		deliver("first")
		time.AfterFunc(time.Minute, func() { deliver("second") })
		asked := map[string]int{}
		m, err := watch.Await(t.Context(), service.Client(api.Options{}), inbox.ID, watch.Newest(1), watch.Match{From: "ACME", Fits: func(m api.Message) bool {
			asked[m.Subject]++
			return m.Subject == "second"
		}})
		if err != nil || m.Subject != "second" || asked["first"] != 1 || asked["second"] != 1 {
			t.Errorf("%+v, %v; asked %v", m, err, asked)
		}
	})
}
