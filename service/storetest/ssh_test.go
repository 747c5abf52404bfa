package storetest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
)

func sshKeys(t *testing.T, s store) {
	ctx := t.Context()
	a := service.SSHKey{Fingerprint: "SHA256:a/+", KeyID: "key_a", Comment: "ada@laptop ü", CreatedAt: epoch}
	b := service.SSHKey{Fingerprint: "SHA256:b", KeyID: "key_b", CreatedAt: epoch.Add(time.Second)}
	must(t, s.AddSSHKey(ctx, a))
	must(t, s.AddSSHKey(ctx, b))
	wantCode(t, s.AddSSHKey(ctx, service.SSHKey{Fingerprint: a.Fingerprint, KeyID: "key_c", CreatedAt: epoch}), service.Taken)
	wantCode(t, s.AddSSHKey(ctx, service.SSHKey{Fingerprint: "\x00", KeyID: "key_c", CreatedAt: epoch}), service.Invalid)
	wantCode(t, fortest.Failure(s.SSHKey(ctx, "\x00")), service.NotFound)
	if got, err := s.SSHKey(ctx, a.Fingerprint); err != nil || got != a {
		t.Errorf("got %+v, %v", got, err)
	}
	if all, err := s.SSHKeys(ctx, ""); err != nil || len(all) != 2 || all[0] != a || all[1] != b {
		t.Errorf("all: %+v, %v", all, err)
	}
	if own, err := s.SSHKeys(ctx, "key_b"); err != nil || len(own) != 1 || own[0] != b {
		t.Errorf("of b: %+v, %v", own, err)
	}
	must(t, s.RemoveSSHKey(ctx, a.Fingerprint))
	wantCode(t, s.RemoveSSHKey(ctx, a.Fingerprint), service.NotFound)
	wantCode(t, fortest.Failure(s.SSHKey(ctx, a.Fingerprint)), service.NotFound)
	if n := together(t, 8, service.Taken, func(int) error { return s.AddSSHKey(ctx, a) }); n != 1 {
		t.Errorf("%d callers added it", n)
	}
}

func secrets(t *testing.T, s store) {
	got := make([][]byte, 8)
	var asking sync.WaitGroup
	for i := range got {
		asking.Go(func() {
			var err error
			if got[i], err = s.Secret(t.Context(), "host", fmt.Appendf(nil, "%d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	for _, g := range got {
		if len(g) == 0 || !bytes.Equal(g, got[0]) {
			t.Errorf("secrets %q", got)
		}
	}
}

// What clients keep of an inbox is replaced by one of those that saw it, and gone with the inbox.
func clientState(t *testing.T, s store) {
	ctx := t.Context()
	in := service.Inbox{ID: "inbox_a", KeyID: "key_a", Address: "a@x.test", CreatedAt: epoch, ExpiresAt: epoch.Add(time.Hour)}
	must(t, s.CreateInbox(ctx, in, 10))
	want := func(state string) {
		t.Helper()
		if got, err := s.ClientStates(ctx, "key_a"); err != nil || string(got["inbox_a"]) != state || (state == "") != (len(got) == 0) {
			t.Errorf("state %q, %v; want %q", got, err, state)
		}
	}
	want("")
	must(t, s.SetClientState(ctx, "key_a", "inbox_a", nil, []byte("1")))
	want("1")
	wantCode(t, s.SetClientState(ctx, "key_a", "inbox_a", nil, []byte("2")), service.Taken)
	wantCode(t, s.SetClientState(ctx, "key_b", "inbox_a", []byte("1"), []byte("2")), service.NotFound)
	wantCode(t, s.SetClientState(ctx, "key_a", "inbox_b", nil, []byte("2")), service.NotFound)
	if n := together(t, 8, service.Taken, func(i int) error {
		return s.SetClientState(ctx, "key_a", "inbox_a", []byte("1"), fmt.Appendf(nil, "by %d", i))
	}); n != 1 {
		t.Errorf("%d callers replaced it", n)
	}
	must(t, s.DeleteInbox(ctx, "key_a", "inbox_a"))
	want("")
	wantCode(t, s.SetClientState(ctx, "key_a", "inbox_a", nil, []byte("2")), service.NotFound)

	// It is gone with an inbox that has expired.
	in.ID, in.CreatedAt, in.ExpiresAt = "inbox_c", epoch.Add(time.Minute), epoch.Add(time.Hour)
	must(t, s.CreateInbox(ctx, in, 10))
	must(t, s.SetClientState(ctx, "key_a", "inbox_c", nil, []byte("3")))
	must(t, fortest.Failure(s.Sweep(ctx, epoch.Add(2*time.Hour), 10)))
	want("")
}
