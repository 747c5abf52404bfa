// Package storetest is the suite that every implementation of service.Store passes. It has nothing but tests.
package storetest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
)

// store is a store that can be closed and opened again.
type store interface {
	service.Store
	io.Closer
}

// opener opens the store in a directory, which is empty at first; a store without a directory uses it
// as a name. After Close, it opens the same store again. It may be called concurrently.
type opener func(t *testing.T, dir string) store

// run runs the suite. MAYFLY_LONG=1 makes the comparison with a model ten times as long.
func run(t *testing.T, open opener) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, store)
	}{
		{"keys", keys},
		{"a secret has one key", keysConcurrent},
		{"inboxes", inboxes},
		{"addresses", addresses},
		{"messages", messages},
		{"pages of inboxes", pagesOfInboxes},
		{"inboxes of a key", bound},
		{"bodies", bodies},
		{"bodies of several messages", sharedBodies},
		{"quota", quota},
		{"clocks", clocks},
		{"quota shared by callers", quotaConcurrent},
		{"sequence numbers given once", seqsConcurrent},
		{"changes are seen", readConcurrent},
		{"versions", versions},
		{"messages deleted", messagesDeleted},
		{"extension", extension},
		{"canceled", canceled},
		{"keys of SSH", sshKeys},
		{"secrets", secrets},
		{"state of clients", clientState},
		{"logins", logins},
		{"login of a revoked key", revoked},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			defer closeStore(t, s)
			test.run(t, s)
		})
	}
	t.Run("model", func(t *testing.T) { model(t, open) })
}

func closeStore(t *testing.T, s store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// epoch is an instant well within a UTC day.
var epoch = time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC)

var must = fortest.Must

func wantCode(t *testing.T, err error, code service.Code) {
	t.Helper()
	if got := service.ErrorCode(err); got != code {
		t.Fatalf("error %v has code %q, want %q", err, got, code)
	}
}

// together makes n calls at once, each of which succeeds or fails with a code, and returns how many
// succeed.
func together(t *testing.T, n int, otherwise service.Code, call func(i int) error) int {
	var succeeded atomic.Int64
	var calls sync.WaitGroup
	for i := range n {
		calls.Go(func() {
			if err := call(i); err == nil {
				succeeded.Add(1)
			} else if otherwise == "" || service.ErrorCode(err) != otherwise {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	return int(succeeded.Load())
}

var serial atomic.Int64

func newInbox(keyID, address string, ttl time.Duration) service.Inbox {
	return service.Inbox{
		ID: fmt.Sprintf("inbox_%d", serial.Add(1)), KeyID: keyID, Address: address,
		CreatedAt: epoch, ExpiresAt: epoch.Add(ttl),
	}
}

func create(t *testing.T, s store, keyID, address string) service.Inbox {
	t.Helper()
	in := newInbox(keyID, address, time.Hour)
	must(t, s.CreateInbox(t.Context(), in, math.MaxInt))
	return in
}

func to(ins ...service.Inbox) []service.NewMessage {
	var list []service.NewMessage
	for _, in := range ins {
		list = append(list, service.NewMessage{
			KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 1_000_000, To: in.Address,
			From: "a@b.example", FromName: "Ada", Subject: "Hello", Delivery: []byte("{}"),
		})
	}
	return list
}

func appendTo(t *testing.T, s store, raw string, ins ...service.Inbox) {
	t.Helper()
	must(t, s.Append(t.Context(), service.Append{Received: epoch, Messages: to(ins...), Raw: []byte(raw)}))
}

// list returns all summaries of the inbox, as it is now.
func list(t *testing.T, s store, in service.Inbox) []service.Summary {
	t.Helper()
	in, err := s.Inbox(t.Context(), in.KeyID, in.ID)
	must(t, err)
	all, err := s.Messages(t.Context(), in, in.Last+1, 0)
	must(t, err)
	if len(all) != in.Messages {
		t.Fatalf("inbox counts %d messages and lists %d", in.Messages, len(all))
	}
	return all
}

func keys(t *testing.T, s store) {
	ctx := t.Context()
	hash := func(secret string) [32]byte { return sha256.Sum256([]byte(secret)) }
	for i, plan := range service.Plans() {
		must(t, s.CreateKey(ctx, service.StoredKey{Hash: hash(fmt.Sprint(i)), Key: service.Key{
			ID: fmt.Sprintf("key_%d", 9-i), Name: "n" + fmt.Sprint(i), Plan: plan, CreatedAt: epoch.Add(time.Duration(i) * time.Second),
		}}))
	}
	all, err := s.Keys(ctx)
	must(t, err)
	var names []string
	for _, k := range all {
		names = append(names, k.Name)
	}
	if !slices.Equal(names, []string{"n0", "n1", "n2", "n3"}) {
		t.Errorf("keys in order %q, want the oldest first", names)
	}
	k, err := s.KeyByHash(ctx, hash("2"))
	must(t, err)
	if k.ID != "key_7" || k.Plan != service.Startup || !k.CreatedAt.Equal(epoch.Add(2*time.Second)) || !k.RevokedAt.IsZero() {
		t.Errorf("key by hash is %+v", k)
	}

	revoked := epoch.Add(time.Hour)
	updated, err := s.UpdateKey(ctx, "key_7", func(k *service.StoredKey) {
		k.Hash, k.Plan, k.RevokedAt = hash("new"), service.Dev, revoked
	})
	must(t, err)
	found, err := s.KeyByHash(ctx, hash("new"))
	must(t, err)
	for _, k := range []service.StoredKey{updated, found} {
		if k.ID != "key_7" || k.Name != "n2" || k.Plan != service.Dev || !k.RevokedAt.Equal(revoked) {
			t.Errorf("updated key is %+v", k)
		}
	}
	wantCode(t, fortest.Failure(s.KeyByHash(ctx, hash("2"))), service.NotFound)

	// The secret before the last is kept while it is named, and nobody else gets it.
	must(t, fortest.Failure(s.UpdateKey(ctx, "key_7", func(k *service.StoredKey) { k.OldHash, k.OldUntil, k.Hash = k.Hash, revoked, hash("newest") })))
	for _, secret := range []string{"new", "newest"} {
		k, err := s.KeyByHash(ctx, hash(secret))
		must(t, err)
		if k.ID != "key_7" || k.Hash != hash("newest") || !k.OldUntil.Equal(revoked) {
			t.Errorf("by the secret %q: %+v", secret, k)
		}
		wantCode(t, s.CreateKey(ctx, service.StoredKey{Hash: hash(secret), Key: service.Key{ID: "key_late", Plan: service.Dev, CreatedAt: epoch}}), service.Taken)
	}
	must(t, fortest.Failure(s.UpdateKey(ctx, "key_7", func(k *service.StoredKey) { k.OldHash, k.OldUntil = [32]byte{}, time.Time{} })))
	wantCode(t, fortest.Failure(s.KeyByHash(ctx, hash("new"))), service.NotFound)
	wantCode(t, fortest.Failure(s.Key(ctx, "key_none")), service.NotFound)
	wantCode(t, fortest.Failure(s.UpdateKey(ctx, "key_none", func(*service.StoredKey) {})), service.NotFound)

	// Concurrent changes are all made.
	together(t, 20, "", func(int) error {
		return fortest.Failure(s.UpdateKey(ctx, "key_9", func(k *service.StoredKey) { k.Name += "+" }))
	})
	k, err = s.Key(ctx, "key_9")
	must(t, err)
	if k.Name != "n0"+strings.Repeat("+", 20) {
		t.Errorf("after 20 changes the name is %q", k.Name)
	}
}

func keysConcurrent(t *testing.T, s store) {
	ctx := t.Context()
	create := func(id string, secret string) error {
		return s.CreateKey(ctx, service.StoredKey{
			Hash: sha256.Sum256([]byte(secret)), Key: service.Key{ID: id, Plan: service.Dev, CreatedAt: epoch},
		})
	}
	created := together(t, 20, service.Taken, func(i int) error { return create(fmt.Sprintf("key_%d", i), "same") })
	all, err := s.Keys(ctx)
	must(t, err)
	if len(all) != 1 || created != 1 {
		t.Fatalf("of 20 keys with one secret %d were created: %+v", created, all)
	}
	wantCode(t, create("key_late", "same"), service.Taken)
	k, err := s.KeyByHash(ctx, all[0].Hash)
	must(t, err)
	if k.ID != all[0].ID {
		t.Errorf("the secret finds %s, not %s", k.ID, all[0].ID)
	}

	// The secret that a key had before can have another.
	must(t, fortest.Failure(s.UpdateKey(ctx, k.ID, func(k *service.StoredKey) { k.Hash = sha256.Sum256([]byte("changed")) })))
	wantCode(t, create("key_late", "changed"), service.Taken)
	must(t, create("key_late", "same"))
	k, err = s.KeyByHash(ctx, all[0].Hash)
	must(t, err)
	if k.ID != "key_late" {
		t.Errorf("the secret finds %s", k.ID)
	}
}

func inboxes(t *testing.T, s store) {
	ctx := t.Context()
	a := create(t, s, "key_a", "one@x.test")
	create(t, s, "key_a", "two@x.test")
	create(t, s, "key_b", "three@x.test")

	got, err := s.Inbox(ctx, "key_a", a.ID)
	must(t, err)
	if got.ID != a.ID || got.KeyID != a.KeyID || got.Address != a.Address || got.Messages != 0 ||
		!got.CreatedAt.Equal(a.CreatedAt) || !got.ExpiresAt.Equal(a.ExpiresAt) {
		t.Errorf("inbox is %+v, want %+v", got, a)
	}
	got, err = s.InboxByAddress(ctx, "one@x.test")
	must(t, err)
	if got.ID != a.ID || got.KeyID != a.KeyID {
		t.Errorf("inbox by address is %+v", got)
	}
	for _, id := range []string{"inbox_none", "", "inbox_\x00", a.ID + "\x00", a.ID + "x", a.ID[:len(a.ID)-1], "%", "../" + a.ID} {
		wantCode(t, fortest.Failure(s.Inbox(ctx, "key_a", id)), service.NotFound)
		wantCode(t, s.DeleteInbox(ctx, "key_a", id), service.NotFound)
	}
	for _, key := range []string{"key_b", "key_none", "", "key_", "key_a\x00"} {
		wantCode(t, fortest.Failure(s.Inbox(ctx, key, a.ID)), service.NotFound)
		wantCode(t, s.DeleteInbox(ctx, key, a.ID), service.NotFound)
	}
	wantCode(t, fortest.Failure(s.InboxByAddress(ctx, "none@x.test")), service.NotFound)
	wantCode(t, fortest.Failure(s.InboxByAddress(ctx, "one@x.tes")), service.NotFound)
}

// addresses checks what the model does not: which inbox an address has, tags after the end of an
// inbox, and callers that share a commit.
func addresses(t *testing.T, s store) {
	ctx := t.Context()
	foreign := func(address string) service.Inbox { return newInbox("key_b", address, 2*time.Hour) }
	in := create(t, s, "key_a", "one@x.test")
	must(t, s.DeleteInbox(ctx, "key_a", in.ID))
	again := create(t, s, "key_a", "one@x.test")
	got, err := s.InboxByAddress(ctx, "one@x.test")
	must(t, err)
	if got.ID != again.ID {
		t.Errorf("the address has inbox %s, want %s", got.ID, again.ID)
	}

	// It can be used again from the instant of expiry on, swept or not, and stays with its key.
	third := newInbox("key_a", "one@x.test", 2*time.Hour)
	third.CreatedAt = again.ExpiresAt.Add(-time.Millisecond)
	wantCode(t, s.CreateInbox(ctx, third, math.MaxInt), service.Taken)
	third.CreatedAt = again.ExpiresAt
	must(t, s.CreateInbox(ctx, third, math.MaxInt))
	must(t, fortest.Failure(s.Sweep(ctx, again.ExpiresAt, 100)))
	got, err = s.InboxByAddress(ctx, "one@x.test")
	must(t, err)
	if got.ID != third.ID {
		t.Errorf("after the sweep the address has inbox %s, want %s", got.ID, third.ID)
	}
	must(t, fortest.Failure(s.Sweep(ctx, third.ExpiresAt, 100)))
	wantOwner(t, s, "one@x.test", "key_a")
	for _, address := range []string{"one@x.test", "one+tag@x.test", "one+tag+more@x.test"} {
		taken := foreign(address)
		taken.CreatedAt = third.ExpiresAt
		wantCode(t, s.CreateInbox(ctx, taken, math.MaxInt), service.Taken)
	}
	wantCode(t, fortest.Failure(s.InboxByAddress(ctx, "one+tag@x.test")), service.NotFound)

	// A key keeps what it had first.
	first := foreign("bob+tag@x.test")
	must(t, s.CreateInbox(ctx, first, math.MaxInt))
	create(t, s, "key_a", "bob@x.test")
	must(t, s.DeleteInbox(ctx, "key_b", first.ID))
	wantCode(t, s.CreateInbox(ctx, newInbox("key_a", "bob+tag@x.test", time.Hour), math.MaxInt), service.Taken)
	wantCode(t, s.CreateInbox(ctx, foreign("bob+other@x.test"), math.MaxInt), service.Taken)
	must(t, s.CreateInbox(ctx, foreign("bob+tag@x.test"), math.MaxInt))

	// Of concurrent callers, one gets it, and the others find it.
	made := together(t, 16, service.Taken, func(i int) error {
		err := s.CreateInbox(ctx, newInbox(fmt.Sprintf("key_%d", i%4), "wanted@x.test", time.Hour), math.MaxInt)
		if missing := fortest.Failure(s.InboxByAddress(ctx, "wanted@x.test")); missing != nil {
			t.Errorf("of an address that has an inbox: %v", missing)
		}
		return err
	})
	if made != 1 {
		t.Errorf("%d callers got the same address", made)
	}
	for n := range 20 {
		in := []service.Inbox{newInbox("key_a", fmt.Sprintf("%d@x.test", n), time.Hour), foreign(fmt.Sprintf("%d+tag@x.test", n))}
		together(t, 2, service.Taken, func(i int) error { return s.CreateInbox(ctx, in[i], math.MaxInt) })
		must(t, fortest.Failure(s.Inbox(ctx, in[0].KeyID, in[0].ID)))
	}
}

// wantOwner checks that an address without an inbox still has its owner.
func wantOwner(t *testing.T, s store, address, keyID string) {
	t.Helper()
	in, err := s.InboxByAddress(t.Context(), address)
	must(t, err)
	if in.ID != "" || in.KeyID != keyID {
		t.Errorf("%s has inbox %q and owner %q, want only the owner %s", address, in.ID, in.KeyID, keyID)
	}
}

func messages(t *testing.T, s store) {
	ctx := t.Context()
	in := create(t, s, "key_a", "one@x.test")
	if all := list(t, s, in); len(all) != 0 {
		t.Fatalf("a new inbox lists %v", all)
	}
	for i := range 3 {
		n := to(in)
		n[0].Subject = fmt.Sprintf("Message %d", i)
		n[0].To = "one+tag@x.test"
		n[0].Delivery = fmt.Appendf(nil, `{"client":"%d\u0000"}`, i)
		must(t, s.Append(ctx, service.Append{Received: epoch.Add(time.Duration(i) * time.Second), Messages: n, Raw: []byte(fmt.Sprintf("raw %d", i))}))
	}
	all := list(t, s, in)
	for i, m := range all {
		n := len(all) - 1 - i
		seq, ok := service.MessageSeq(m.ID)
		if !ok || seq != uint64(n+1) {
			t.Errorf("message %d has ID %q with the sequence number %d", i, m.ID, seq)
		}
		want := service.Summary{ID: m.ID, From: "a@b.example", FromName: "Ada", Subject: fmt.Sprintf("Message %d", n),
			ReceivedAt: epoch.Add(time.Duration(n) * time.Second), Size: 5}
		if m != want {
			t.Errorf("summary %+v, want %+v", m, want)
		}
		got, err := s.Message(ctx, in, seq)
		must(t, err)
		if got.Summary != want || got.To != "one+tag@x.test" || string(got.Raw) != fmt.Sprintf("raw %d", n) {
			t.Errorf("message %+v", got)
		}
		if came, err := s.Delivery(ctx, in, seq); err != nil || string(came) != fmt.Sprintf(`{"client":"%d\u0000"}`, n) {
			t.Errorf("it came as %q, %v", came, err)
		}
		sum, err := s.Summary(ctx, in, seq)
		must(t, err)
		if sum != want {
			t.Errorf("summary alone %+v, want %+v", sum, want)
		}
	}
	wantCode(t, fortest.Failure(s.Summary(ctx, in, 4)), service.NotFound)
	for _, seq := range []uint64{0, 4, 1 << 63, ^uint64(0)} {
		wantCode(t, fortest.Failure(s.Message(ctx, in, seq)), service.NotFound)
		wantCode(t, fortest.Failure(s.Delivery(ctx, in, seq)), service.NotFound)
	}
}

// allInboxes returns all of a key's inboxes, read in pages, and how many the store says there are.
func allInboxes(t *testing.T, s store, keyID string, size int) (all []service.Inbox, total int) {
	t.Helper()
	p := service.PageOfInboxes{KeyID: keyID, CreatedAt: epoch.AddDate(9, 0, 0), Limit: size}
	for {
		page, total, err := s.Inboxes(t.Context(), p)
		must(t, err)
		if len(page) > size {
			t.Fatalf("a page of %d has %d", size, len(page))
		}
		if all = append(all, page...); len(page) < size {
			return all, total
		}
		p.CreatedAt, p.ID = all[len(all)-1].CreatedAt, all[len(all)-1].ID
	}
}

// newestFirst is the order of the list of a key's inboxes.
func newestFirst(a, b service.Inbox) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
}

func pagesOfInboxes(t *testing.T, s store) {
	ctx := t.Context()
	var want []service.Inbox
	for i, seconds := range []int{3, 1, 2, 2, 2, 2, 0, 4} {
		in := newInbox("key_a", fmt.Sprintf("%d@x.test", i), time.Hour)
		in.ID = fmt.Sprintf("inbox_%c", "bayxAz0c"[i])
		in.CreatedAt = epoch.Add(time.Duration(seconds) * time.Second)
		must(t, s.CreateInbox(ctx, in, math.MaxInt))
		want = append(want, in)
		create(t, s, []string{"key_", "key_a0", "key_b"}[i%3], fmt.Sprintf("foreign%d@x.test", i)) // neighbours
	}
	slices.SortFunc(want, newestFirst)
	check := func() {
		t.Helper()
		for size := range len(want) + 2 {
			all, total := allInboxes(t, s, "key_a", size+1)
			if !slices.EqualFunc(all, want, func(a, b service.Inbox) bool { return a.ID == b.ID }) || total != len(want) {
				t.Errorf("pages of %d make %+v, %d in all, want %+v", size+1, all, total, want)
			}
		}
	}
	check()
	// A page starts after what is deleted, too.
	gone := want[3]
	must(t, s.DeleteInbox(ctx, "key_a", gone.ID))
	want = slices.Delete(want, 3, 4)
	check()
	page, total, err := s.Inboxes(ctx, service.PageOfInboxes{KeyID: "key_a", CreatedAt: gone.CreatedAt, ID: gone.ID, Limit: 1})
	must(t, err)
	if len(page) != 1 || page[0].ID != want[3].ID || total != len(want) {
		t.Errorf("after a deleted inbox: %+v of %d", page, total)
	}
	for _, keyID := range []string{"key_none", "", "key_a\x00", "\x00"} {
		if all, total := allInboxes(t, s, keyID, 1); len(all) != 0 || total != 0 {
			t.Errorf("%q has %+v", keyID, all)
		}
	}
}

// bound checks that concurrent callers together keep the number of a key's inboxes, and that whatever
// ends one makes room.
func bound(t *testing.T, s store) {
	ctx := t.Context()
	const limit = 5
	fill := func(room int) {
		t.Helper()
		made := together(t, 4*limit, service.OverQuota, func(i int) error {
			in := newInbox("key_a", fmt.Sprintf("%d@x.test", serial.Add(1)), time.Duration(1+i)*time.Minute)
			return s.CreateInbox(ctx, in, limit)
		})
		all, total := allInboxes(t, s, "key_a", 100)
		if made != room || len(all) != limit || total != limit {
			t.Fatalf("%d were made of %d, there are %d and counted %d", made, room, len(all), total)
		}
	}
	fill(limit)
	refused := newInbox("key_a", "refused@x.test", time.Hour)
	wantCode(t, s.CreateInbox(ctx, refused, limit), service.OverQuota)
	refused.KeyID = "key_b"
	wantCode(t, s.CreateInbox(ctx, refused, limit), "") // nobody had the address
	all, _ := allInboxes(t, s, "key_a", 100)
	wantCode(t, s.CreateInbox(ctx, newInbox("key_a", all[0].Address, time.Hour), limit+1), service.Taken)
	if n := together(t, 8, service.NotFound, func(i int) error { return s.DeleteInbox(ctx, "key_a", all[i%2].ID) }); n != 2 {
		t.Errorf("2 inboxes were deleted %d times", n)
	}
	fill(2)
	// Some are deleted while they are swept.
	all, _ = allInboxes(t, s, "key_a", 100)
	together(t, 2*limit, service.NotFound, func(i int) error {
		if i%2 == 0 {
			return fortest.Failure(s.Sweep(ctx, epoch.Add(24*time.Hour), 2))
		}
		return s.DeleteInbox(ctx, "key_a", all[i/2].ID)
	})
	must(t, fortest.Failure(s.Sweep(ctx, epoch.Add(24*time.Hour), 100)))
	fill(limit)
	create(t, s, "key_b", "another@x.test")
}

func bodies(t *testing.T, s store) {
	ctx := t.Context()
	in := create(t, s, "key_a", "one@x.test")
	sizes := []int{0, 1, 100, 4 << 10, 70 << 10, 9 << 20}
	for _, size := range sizes {
		appendTo(t, s, string(body(size)), in)
	}
	for i, size := range sizes {
		m, err := s.Message(ctx, in, uint64(i+1))
		must(t, err)
		if m.Size != int64(size) || !bytes.Equal(m.Raw, body(size)) {
			t.Errorf("body of %d bytes comes back with %d and size %d", size, len(m.Raw), m.Size)
		}
	}
}

// sharedBodies checks that a body stays as long as one of a delivery's messages, whatever happens to the others, and also
// when it happens at the same time.
func sharedBodies(t *testing.T, s store) {
	ctx := t.Context()
	var all []service.Inbox
	for i := range 8 {
		in := newInbox([]string{"key_a", "key_b", "key_c"}[i%3], fmt.Sprintf("%d@x.test", i), time.Duration(1+i)*time.Hour)
		must(t, s.CreateInbox(ctx, in, math.MaxInt))
		all = append(all, in)
	}
	const deliveries = 20
	raw := func(n int) []byte { return body(3000 + n) }
	for n := range deliveries {
		appendTo(t, s, string(raw(n)), all...)
	}
	check := func(left ...service.Inbox) {
		t.Helper()
		for _, in := range left {
			for n := range deliveries {
				if m, err := s.Message(ctx, in, uint64(1+n)); err != nil || !bytes.Equal(m.Raw, raw(n)) {
					t.Fatalf("message %d of %s has %d bytes: %v", n, in.Address, len(m.Raw), err)
				}
			}
		}
	}
	check(all...)
	must(t, fortest.Failure(s.ExtendInbox(ctx, all[1].KeyID, all[1].ID, epoch, epoch.Add(72*time.Hour))))
	together(t, 6, "", func(i int) error {
		switch i {
		case 0, 1:
			return s.DeleteInbox(ctx, all[i+6].KeyID, all[i+6].ID)
		case 2:
			return s.DeleteMessages(ctx, all[5], "")
		case 3:
			return s.DeleteMessages(ctx, all[4], list(t, s, all[4])[7].ID)
		case 4:
			return fortest.Failure(s.Sweep(ctx, epoch.Add(time.Hour), 100))
		}
		return s.Append(ctx, service.Append{Received: epoch, Messages: to(all[1], all[2]), Raw: []byte("x")})
	})
	wantCode(t, fortest.Failure(s.Message(ctx, all[0], 1)), service.NotFound)
	wantCode(t, fortest.Failure(s.Message(ctx, all[4], deliveries-7)), service.NotFound)
	check(all[1], all[2], all[3])
	must(t, fortest.Failure(s.Sweep(ctx, epoch.Add(24*time.Hour), 100)))
	check(all[1])
	must(t, s.DeleteMessages(ctx, all[1], list(t, s, all[1])[0].ID))
	check(all[1])
}

// body returns bytes that compress little and differ for each size.
func body(size int) []byte {
	b := make([]byte, size)
	x := uint32(size) | 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

func quota(t *testing.T, s store) {
	ctx := t.Context()
	in := create(t, s, "key_a", "one@x.test")
	in.ExpiresAt = in.ExpiresAt.Add(48 * time.Hour)
	in.ID += "long"
	in.Address = "long@x.test"
	must(t, s.CreateInbox(ctx, in, math.MaxInt))
	n := to(in)
	n[0].EmailsPerDay = 2
	midnight := time.Date(2030, 5, 18, 0, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		at   time.Time
		want service.Code
	}{
		{midnight.Add(-2 * time.Millisecond), ""},
		{midnight.Add(-time.Millisecond), ""},
		{midnight.Add(-time.Millisecond), service.OverQuota},
		{midnight, ""},
		{midnight.Add(-time.Millisecond), service.OverQuota},
		{midnight, ""},
		{midnight.Add(24*time.Hour - time.Millisecond), service.OverQuota},
		{midnight.Add(24 * time.Hour), ""},
	} {
		wantCode(t, s.Append(ctx, service.Append{Received: step.at, Messages: n, Raw: []byte("x")}), step.want)
	}
	// A deletion does not reduce the count.
	must(t, s.DeleteInbox(ctx, in.KeyID, in.ID))
	got, err := s.EmailsToday(ctx, "key_a", service.DayOf(midnight))
	must(t, err)
	if got != 2 {
		t.Errorf("%d messages on the day, want 2", got)
	}
}

// clocks checks that a clock that steps changes neither the order of an inbox's messages nor what a key gets on a day.
func clocks(t *testing.T, s store) {
	ctx := t.Context()
	in := newInbox("key_a", "one@x.test", 2*365*24*time.Hour)
	must(t, s.CreateInbox(ctx, in, math.MaxInt))
	deliver := func(at time.Duration, want service.Code) {
		t.Helper()
		n := to(in)
		n[0].EmailsPerDay = 4
		wantCode(t, s.Append(ctx, service.Append{Received: epoch.Add(at), Messages: n, Raw: []byte("x")}), want)
		if got := list(t, s, in); want == "" && (n[0].ID != got[0].ID || !n[0].ReceivedAt.Equal(got[0].ReceivedAt)) {
			t.Errorf("%v: stored as %+v, and answered %+v", at, got[0], n[0])
		}
	}
	const day = 24 * time.Hour
	var want []time.Duration
	for _, step := range []struct{ at, received time.Duration }{
		{-time.Minute, 0}, {time.Second, time.Second}, {-3 * time.Hour, time.Second}, {2 * time.Second, 2 * time.Second},
	} {
		deliver(step.at, "")
		want = append(want, step.received)
	}
	// A newest message that is gone counts, too.
	must(t, s.DeleteMessages(ctx, in, list(t, s, in)[0].ID))
	for i, m := range list(t, s, in) {
		if at := epoch.Add(want[2-i]); !m.ReceivedAt.Equal(at) {
			t.Errorf("message %d was received at %v, want %v", 2-i, m.ReceivedAt, at)
		}
	}
	deliver(0, service.OverQuota)
	deliver(2*day, "")
	if got := list(t, s, in)[0].ReceivedAt; !got.Equal(epoch.Add(2 * day)) {
		t.Errorf("a later message was received at %v", got)
	}
	must(t, fortest.Failure(s.Sweep(ctx, epoch.Add(2*day), 100)))
	deliver(0, service.OverQuota)
	for range 3 {
		deliver(2*day, "")
	}
	deliver(2*day, service.OverQuota)
	// No day that has not come is used up, but for one.
	deliver(400*day, "")
	for _, at := range []time.Duration{3 * day, 4 * day} {
		for range 4 - int(at/day-3) {
			deliver(at, "")
		}
		deliver(at, service.OverQuota)
	}
}

func quotaConcurrent(t *testing.T, s store) {
	const limit, callers = 50, 120
	a, b := create(t, s, "key_a", "one@x.test"), create(t, s, "key_a", "two@x.test")
	var accepted atomic.Int64
	together(t, callers, service.OverQuota, func(i int) error {
		n := to(a)
		if i%3 == 0 {
			n = to(a, b)
		}
		for j := range n {
			n[j].EmailsPerDay = limit
		}
		err := s.Append(t.Context(), service.Append{Received: epoch, Messages: n, Raw: []byte("x")})
		if err == nil {
			accepted.Add(int64(len(n)))
		}
		return err
	})
	stored := len(list(t, s, a)) + len(list(t, s, b))
	// One may be left, which is too few for a delivery to two.
	if stored > limit || stored < limit-1 || int64(stored) != accepted.Load() {
		t.Errorf("%d accepted, %d stored, limit %d", accepted.Load(), stored, limit)
	}
}

func seqsConcurrent(t *testing.T, s store) {
	in := create(t, s, "key_a", "one@x.test")
	const callers, each = 16, 20
	together(t, callers, "", func(c int) (err error) {
		for i := 0; i < each && err == nil; i++ {
			n := to(in)
			n[0].Subject = fmt.Sprintf("%d/%d", c, i)
			err = s.Append(t.Context(), service.Append{Received: epoch, Messages: n, Raw: []byte(n[0].Subject)})
		}
		return err
	})
	all := list(t, s, in)
	if len(all) != callers*each {
		t.Fatalf("%d messages, want %d", len(all), callers*each)
	}
	last := make(map[string]string)
	for i, m := range all {
		seq, _ := service.MessageSeq(m.ID)
		if seq != uint64(len(all)-i) {
			t.Fatalf("sequence number %d at %d", seq, i)
		}
		got, err := s.Message(t.Context(), in, seq)
		must(t, err)
		if string(got.Raw) != m.Subject || got.ID != m.ID {
			t.Fatalf("message %s has the body of %q", m.Subject, got.Raw)
		}
		caller, n, _ := strings.Cut(m.Subject, "/")
		if newer := last[caller]; newer != "" && len(n) == len(newer) && n >= newer {
			t.Fatalf("message %s comes after %s", newer, m.Subject)
		}
		last[caller] = n
	}
}

// readConcurrent changes inboxes that are read all the time. A change is seen once its call has
// returned.
func readConcurrent(t *testing.T, s store) {
	const writers, rounds, messages = 4, 4, 10
	ctx := t.Context()
	writing, stop := context.WithCancel(ctx)
	var current [writers]atomic.Pointer[service.Inbox]
	var reading sync.WaitGroup
	for range 2 {
		reading.Go(func() {
			for i := 0; writing.Err() == nil; i++ {
				if in := current[i%writers].Load(); in != nil {
					if err := fortest.Failure(s.Inbox(ctx, in.KeyID, in.ID)); err != nil && service.ErrorCode(err) != service.NotFound {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	write := func(in service.Inbox) error {
		seen := map[uint64]bool{}
		for n := range messages + 1 {
			got, err := s.Inbox(ctx, in.KeyID, in.ID)
			if err == nil && (got.Messages != n || seen[got.Version]) {
				err = fmt.Errorf("after %d messages it has %d, a version that was seen before: %v", n, got.Messages, seen[got.Version])
			}
			seen[got.Version] = true
			if err == nil && n < messages {
				err = s.Append(ctx, service.Append{Received: epoch, Messages: to(in), Raw: []byte("x")})
			}
			if err != nil {
				return err
			}
		}
		err := s.DeleteInbox(ctx, in.KeyID, in.ID)
		if after := fortest.Failure(s.Inbox(ctx, in.KeyID, in.ID)); service.ErrorCode(after) != service.NotFound {
			t.Errorf("after the deletion: %v", after)
		}
		return err
	}
	together(t, writers, "", func(w int) error {
		for range rounds {
			in := newInbox("key_a", fmt.Sprintf("one%d@x.test", w), time.Hour)
			if err := s.CreateInbox(ctx, in, math.MaxInt); err != nil {
				return err
			}
			current[w].Store(&in)
			if err := write(in); err != nil {
				return err
			}
		}
		return nil
	})
	stop()
	reading.Wait()
}

func versions(t *testing.T, s store) {
	ctx := t.Context()
	in := create(t, s, "key_a", "one@x.test")
	seen := map[uint64]bool{}
	check := func(what string, changes bool) {
		t.Helper()
		got, err := s.Inbox(ctx, "key_a", in.ID)
		must(t, err)
		if seen[got.Version] == changes {
			t.Errorf("%s: version seen before: %v", what, seen[got.Version])
		}
		seen[got.Version] = true
		if all, _ := allInboxes(t, s, "key_a", 2); !slices.Contains(all, got) {
			t.Errorf("%s: listed as %+v", what, all)
		}
	}
	check("at first", true)
	check("unchanged", false)
	for i := range 20 {
		appendTo(t, s, "x", in)
		check(fmt.Sprintf("message %d", i), true)
	}
	for i, id := range []string{list(t, s, in)[3].ID, list(t, s, in)[0].ID, ""} {
		must(t, s.DeleteMessages(ctx, in, id))
		check(fmt.Sprintf("deletion %d", i), true)
	}
	must(t, fortest.Failure(s.ExtendInbox(ctx, "key_a", in.ID, epoch, epoch.Add(2*time.Hour))))
	check("extended", true)
	other := create(t, s, "key_a", "two@x.test")
	appendTo(t, s, "x", other)
	must(t, s.DeleteInbox(ctx, "key_a", other.ID))
	check("another inbox", false)
}

// messagesDeleted checks what the model does not: callers that share a commit, and other inboxes.
func messagesDeleted(t *testing.T, s store) {
	ctx := t.Context()
	in, keep := create(t, s, "key_a", "one@x.test"), create(t, s, "key_a", "keep@x.test")
	for range 40 {
		appendTo(t, s, "x", in, keep)
	}
	all := list(t, s, in)
	for _, id := range []string{"msg_none", "\x00", all[0].ID + "x", list(t, s, keep)[0].ID, service.NewMessageID(1), service.NewMessageID(1 << 62)} {
		wantCode(t, s.DeleteMessages(ctx, in, id), service.NotFound)
	}
	for _, id := range []string{"", all[0].ID} {
		foreign, none := in, in
		foreign.KeyID, none.ID = "key_b", "inbox_none"
		wantCode(t, s.DeleteMessages(ctx, foreign, id), service.NotFound)
		wantCode(t, s.DeleteMessages(ctx, none, id), service.NotFound)
	}
	if n := together(t, 8, service.NotFound, func(i int) error { return s.DeleteMessages(ctx, in, all[i%2].ID) }); n != 2 {
		t.Errorf("2 messages were deleted %d times", n)
	}
	if got := list(t, s, in); !slices.Equal(got, all[2:]) {
		t.Errorf("%d messages are left of 38", len(got))
	}
	wantCode(t, fortest.Failure(s.Delivery(ctx, in, 40)), service.NotFound)
	must(t, fortest.Failure(s.Delivery(ctx, in, 38)))
	// What arrives later is newer than what was deleted, and stays.
	together(t, 8, "", func(i int) error {
		if i%2 == 0 {
			return s.DeleteMessages(ctx, in, "")
		}
		return nil
	})
	appendTo(t, s, "y", in)
	must(t, fortest.Failure(s.Sweep(ctx, epoch, 10)))
	if got := list(t, s, in); len(got) != 1 || got[0].Size != 1 || !strings.HasSuffix(got[0].ID, "19") {
		t.Errorf("after a message in an inbox that was emptied: %+v", got)
	}
	wantCode(t, fortest.Failure(s.Message(ctx, in, 7)), service.NotFound)
	wantCode(t, fortest.Failure(s.Delivery(ctx, in, 7)), service.NotFound)
	if got := list(t, s, keep); len(got) != 40 {
		t.Errorf("another inbox has %d messages of 40", len(got))
	}
	emails, err := s.EmailsToday(ctx, "key_a", service.DayOf(epoch))
	must(t, err)
	if emails != 81 {
		t.Errorf("%d messages today, want 81", emails)
	}
	must(t, s.DeleteInbox(ctx, "key_a", in.ID))
	wantCode(t, s.DeleteMessages(ctx, in, ""), service.NotFound)
}

// extension checks that what is swept, for days, is what has expired, wherever it was kept.
func extension(t *testing.T, s store) {
	ctx := t.Context()
	extend := func(in service.Inbox, at, life time.Duration) service.Inbox {
		t.Helper()
		got, err := s.ExtendInbox(ctx, in.KeyID, in.ID, epoch.Add(at), epoch.Add(at+life))
		must(t, err)
		in, err = s.Inbox(ctx, in.KeyID, in.ID)
		must(t, err)
		if in != got || !in.ExpiresAt.Equal(epoch.Add(at+life)) {
			t.Errorf("extended to %+v, and got %+v", got, in)
		}
		return in
	}
	var all []service.Inbox
	for i := range 6 {
		all = append(all, create(t, s, "key_a", fmt.Sprintf("%d@x.test", i)))
	}
	appendTo(t, s, "before", all...)
	all[1] = extend(all[1], 0, 72*time.Hour)
	all[2] = extend(all[2], 0, time.Minute) // shorter
	all[3] = extend(extend(all[3], 0, 26*time.Hour), 0, time.Hour)
	all[4] = extend(extend(all[4], time.Minute, time.Hour), 50*time.Minute, 47*time.Hour)
	must(t, s.DeleteInbox(ctx, "key_a", extend(all[5], 0, 72*time.Hour).ID))
	appendTo(t, s, "after", all[:5]...)
	for _, id := range []string{"inbox_none", "", all[5].ID, "\x00"} {
		wantCode(t, fortest.Failure(s.ExtendInbox(ctx, "key_a", id, epoch, epoch.Add(time.Hour))), service.NotFound)
	}
	wantCode(t, fortest.Failure(s.ExtendInbox(ctx, "key_b", all[0].ID, epoch, epoch.Add(time.Hour))), service.NotFound)
	wantCode(t, fortest.Failure(s.ExtendInbox(ctx, "key_a", all[0].ID, epoch.Add(time.Hour), epoch.Add(2*time.Hour))), service.NotFound)
	for _, hour := range []int{0, 1, 2, 25, 26, 47, 48, 71, 72, 80} {
		now := epoch.Add(time.Duration(hour) * time.Hour)
		must(t, fortest.Failure(s.Sweep(ctx, now, 100)))
		for i, in := range all[:5] {
			_, err := s.Inbox(ctx, "key_a", in.ID)
			if !now.Before(in.ExpiresAt) {
				wantCode(t, err, service.NotFound)
				wantCode(t, fortest.Failure(s.Message(ctx, in, 1)), service.NotFound)
				continue
			}
			must(t, err)
			if got := list(t, s, in); len(got) != 2 {
				t.Fatalf("after %d hours inbox %d, which expires at %v, has %d messages", hour, i, in.ExpiresAt, len(got))
			}
			for seq, want := range []string{"before", "after"} {
				m, err := s.Message(ctx, in, uint64(seq+1))
				must(t, err)
				if string(m.Raw) != want {
					t.Errorf("message %d is %q", seq+1, m.Raw)
				}
			}
		}
	}
}

func canceled(t *testing.T, s store) {
	in := create(t, s, "key_a", "one@x.test")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// With Canceled nothing was stored, but the store may also accept the message.
	stored := 0
	for range 20 {
		switch err := s.Append(ctx, service.Append{Received: epoch, Messages: to(in), Raw: []byte("x")}); service.ErrorCode(err) {
		case "":
			stored++
		case service.Canceled:
		default:
			t.Fatal(err)
		}
	}
	if got := len(list(t, s, in)); got != stored {
		t.Errorf("%d messages, %d acknowledged", got, stored)
	}
}
