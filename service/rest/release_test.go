package rest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"mayfly/service"
	"mayfly/service/rest"
)

type fakeRelay struct {
	err   error
	keyID string
	to    []string
	raw   string
}

func (f *fakeRelay) Release(_ context.Context, keyID string, to []string, raw []byte) error {
	f.keyID, f.to, f.raw = keyID, to, string(raw)
	return f.err
}

func (f *fakeRelay) Allowed() []string { return []string{"qa@example.com", "*@example.org"} }

func TestRelease(t *testing.T) {
	t.Parallel()
	relay := &fakeRelay{}
	srv := newTestServer(t, rest.Options{Relay: relay})
	key, other := srv.key(t, service.Dev), srv.key(t, service.Dev)
	in, path := srv.newMessage(t, key, sampleMail)
	path += "/release"

	if list := srv.call(t, key, "GET", "/v1/inboxes", ""); !strings.HasSuffix(list.body, `,"relay_allow":["qa@example.com","*@example.org"]}`+"\n") {
		t.Errorf("the list of inboxes: %s", list.body)
	}
	const two = `{"to":["qa@example.com","x@example.org"]}`
	a := srv.call(t, key, "POST", path, two)
	if a.status != 200 || a.body != two+"\n" || relay.raw != sampleMail || !slices.Equal(relay.to, []string{"qa@example.com", "x@example.org"}) {
		t.Errorf("%+v, released %+v", a, relay)
	}
	if log := srv.log.String(); !strings.Contains(log, `msg="message released" key=`+relay.keyID+" inbox="+in.ID+" message=msg_") || !strings.Contains(log, `to="[qa@example.com x@example.org]"`) {
		t.Errorf("log: %s", log)
	}

	relay.keyID = ""
	for _, test := range []struct {
		key, path, body string
		status          int
	}{
		{key, path, "", 400},
		{key, path, "{}", 400},
		{key, path, `{"to":"qa@example.com"}`, 400},
		{key, path, `{"to":[]}`, 400},
		{key, path, `{"to":null}`, 400},
		{key, path, `{"to":[5]}`, 400},
		{key, path, `{"to":["qa@example.com"],"from":"x"}`, 400},
		{"", path, two, 401},
		{other, path, two, 404},
		{key, in.path() + "/messages/msg_none/release", two, 404},
	} {
		if a := srv.call(t, test.key, "POST", test.path, test.body); a.status != test.status || relay.keyID != "" {
			t.Errorf("POST %s %s: %d %s, want %d", test.path, test.body, a.status, a.body, test.status)
		}
	}
	for _, test := range []struct {
		err    error
		status int
		part   string
	}{
		{service.Errorf(service.Invalid, "No address"), 400, "No address"},
		{service.Errorf(service.Forbidden, "Not to them"), 403, "Not to them"},
		{service.Errorf(service.RateLimited, "Too many"), 429, "Too many"},
		{&service.Error{Code: service.Undelivered, Message: "The relay refuses", Err: errors.New("at 10.0.0.1")}, 502, `"The relay refuses"`},
	} {
		relay.err = test.err
		if a := srv.call(t, key, "POST", path, two); a.status != test.status || !strings.Contains(a.body, test.part) {
			t.Errorf("%v: %d %s", test.err, a.status, a.body)
		}
	}
	if log := srv.log.String(); strings.Count(log, "level=WARN") != 1 || strings.Contains(log, "level=ERROR") || !strings.Contains(log, "10.0.0.1") {
		t.Errorf("log: %s", log)
	}
}
