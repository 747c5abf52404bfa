package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mayfly/service"
)

// model makes random changes to a store and to a simple model of one, and compares what can be seen
// of them.
func model(t *testing.T, open opener) {
	seeds, steps := 2, 80
	if os.Getenv("MAYFLY_LONG") != "" {
		seeds, steps = 4, 400
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := &modelStore{
				store: open(t, dir), now: epoch, quota: steps / 7, rand: rand.New(rand.NewPCG(seed, 1)),
				inboxes: map[string]*modelInbox{}, owners: map[string]string{}, emails: map[string]int{},
			}
			for step := range steps {
				if step%50 == 49 {
					closeStore(t, m.store)
					m.store = open(t, dir)
				}
				m.step(t)
				if step%20 == 19 {
					m.compare(t)
				}
			}
			closeStore(t, m.store)
		})
	}
}

type modelStore struct {
	store
	rand    *rand.Rand
	now     time.Time
	quota   int // emails per day
	inboxes map[string]*modelInbox
	owners  map[string]string // of addresses
	emails  map[string]int    // by key and day
	dead    []service.Inbox   // must not come back
}

type modelInbox struct {
	service.Inbox
	raw []string // by sequence number less 1; "" if it is deleted
}

func (in *modelInbox) messages() []string {
	return slices.DeleteFunc(slices.Clone(in.raw), func(raw string) bool { return raw == "" })
}

func (m *modelStore) step(t *testing.T) {
	keyID := fmt.Sprintf("key_%d", m.rand.IntN(3))
	switch n := m.rand.IntN(100); {
	case n < 15:
		m.create(t, keyID)
	case n < 22:
		m.delete(t, keyID)
	case n < 30:
		m.now = m.now.Add(time.Duration(m.rand.IntN(600)) * time.Second)
	case n < 31:
		m.now = service.DayOf(m.now).End().Add(-time.Millisecond)
	case n < 38:
		m.sweep(t)
	case n < 46:
		m.deleteMessages(t)
	case n < 52:
		m.extend(t, keyID)
	default:
		m.append(t)
	}
}

func (m *modelStore) create(t *testing.T, keyID string) {
	in := newInbox(keyID, fmt.Sprintf("%d%s@x.test", m.rand.IntN(20), strings.Repeat("+tag", m.rand.IntN(3))), 0)
	in.CreatedAt = m.now
	in.ExpiresAt = m.now.Add(time.Duration(1+m.rand.IntN(120)) * time.Minute)
	want := service.Code("")
	owner, owned := m.owners[in.Address]
	if owned && owner != keyID {
		want = service.Taken
	}
	for a := in.Address; !owned && strings.Contains(a, "+tag"); {
		a = strings.Replace(a, "+tag", "", 1)
		if owner, ok := m.owners[a]; ok && owner != keyID {
			want = service.Taken
		}
	}
	for _, other := range m.inboxes {
		if other.Address == in.Address && m.now.Before(other.ExpiresAt) {
			want = service.Taken
		}
	}
	wantCode(t, m.CreateInbox(t.Context(), in, math.MaxInt), want)
	if want == "" {
		m.owners[in.Address] = keyID
		m.inboxes[in.ID] = &modelInbox{Inbox: in}
	}
}

func (m *modelStore) pick() *modelInbox {
	ids := slices.Sorted(maps.Keys(m.inboxes))
	if len(ids) == 0 {
		return nil
	}
	return m.inboxes[ids[m.rand.IntN(len(ids))]]
}

func (m *modelStore) delete(t *testing.T, keyID string) {
	in := m.pick()
	if in == nil {
		return
	}
	want := service.Code("")
	if in.KeyID != keyID {
		want = service.NotFound
	}
	wantCode(t, m.DeleteInbox(t.Context(), keyID, in.ID), want)
	if want == "" {
		m.kill(in)
	}
}

func (m *modelStore) deleteMessages(t *testing.T) {
	in := m.pick()
	if in == nil {
		return
	}
	if all := list(t, m, in.Inbox); m.rand.IntN(4) > 0 && len(all) > 0 {
		id := all[m.rand.IntN(len(all))].ID
		must(t, m.DeleteMessages(t.Context(), in.Inbox, id))
		wantCode(t, m.DeleteMessages(t.Context(), in.Inbox, id), service.NotFound)
		seq, _ := service.MessageSeq(id)
		in.raw[seq-1] = ""
		return
	}
	must(t, m.DeleteMessages(t.Context(), in.Inbox, ""))
	clear(in.raw)
}

func (m *modelStore) extend(t *testing.T, keyID string) {
	in := m.pick()
	if in == nil {
		return
	}
	want := service.Code("")
	if in.KeyID != keyID || !m.now.Before(in.ExpiresAt) {
		want = service.NotFound
	}
	got, err := m.ExtendInbox(t.Context(), keyID, in.ID, m.now, m.now.Add(time.Duration(1+m.rand.IntN(120))*time.Minute))
	wantCode(t, err, want)
	if want == "" {
		in.Inbox = got
	}
}

func (m *modelStore) kill(in *modelInbox) {
	in.Messages = len(in.raw)
	m.dead = append(m.dead, in.Inbox)
	delete(m.inboxes, in.ID)
}

func (m *modelStore) sweep(t *testing.T) {
	limit := 1 + m.rand.IntN(5)
	swept, err := m.Sweep(t.Context(), m.now, limit)
	must(t, err)
	var expired []*modelInbox
	for _, in := range m.inboxes {
		if !in.ExpiresAt.After(m.now) {
			expired = append(expired, in)
		}
	}
	if len(swept.Inboxes) != min(limit, len(expired)) {
		t.Fatalf("swept %d of %d expired with limit %d", len(swept.Inboxes), len(expired), limit)
	}
	var last time.Time
	for _, s := range swept.Inboxes {
		in := m.inboxes[s.ID]
		if in == nil || in.ExpiresAt.After(m.now) || in.KeyID != s.KeyID {
			t.Fatalf("swept %+v, which has not expired", s)
		}
		if in.ExpiresAt.After(last) {
			last = in.ExpiresAt
		}
		m.kill(in)
	}
	var next time.Time
	for _, in := range m.inboxes {
		if next.IsZero() || in.ExpiresAt.Before(next) {
			next = in.ExpiresAt
		}
	}
	if !next.IsZero() && next.Before(last) {
		t.Fatalf("swept an inbox of %v before one of %v", last, next)
	}
	if !swept.Next.Equal(next) {
		t.Fatalf("next expiry %v, want %v", swept.Next, next)
	}
}

func (m *modelStore) append(t *testing.T) {
	var ins []*modelInbox
	for range 1 + m.rand.IntN(3) {
		if in := m.pick(); in != nil && !slices.Contains(ins, in) {
			ins = append(ins, in)
		}
	}
	raw := fmt.Sprintf("%d:%s", m.rand.Int(), body(m.rand.IntN(3000)))
	a := service.Append{Received: m.now, Raw: []byte(raw)}
	more := map[string]int{} // messages by key and day
	var alive []*modelInbox
	for _, in := range ins {
		n := to(in.Inbox)[0]
		n.EmailsPerDay = m.quota
		a.Messages = append(a.Messages, n)
		if m.now.Before(in.ExpiresAt) {
			alive = append(alive, in)
			more[fmt.Sprint(in.KeyID, service.DayOf(m.now))]++
		}
	}
	want := service.Code("")
	if len(alive) == 0 {
		want = service.NotFound
	}
	for key, n := range more {
		if m.emails[key]+n > m.quota {
			want = service.OverQuota
		}
	}
	wantCode(t, m.Append(t.Context(), a), want)
	if want != "" {
		return
	}
	for i, in := range ins {
		id := ""
		if slices.Contains(alive, in) {
			id = list(t, m.store, in.Inbox)[0].ID
		}
		if got := a.Messages[i].ID; got != id {
			t.Fatalf("the ID of the message is %q, want %q", got, id)
		}
	}
	for key, n := range more {
		m.emails[key] += n
	}
	for _, in := range alive {
		in.raw = append(in.raw, raw)
	}
}

func (m *modelStore) compare(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	for key := range 3 {
		keyID := fmt.Sprintf("key_%d", key)
		got, total := allInboxes(t, m, keyID, 1+m.rand.IntN(20))
		if total != len(got) {
			t.Fatalf("%s has %d inboxes, and %d are counted", keyID, len(got), total)
		}
		if !slices.IsSortedFunc(got, newestFirst) {
			t.Fatalf("%s has inboxes in another order: %+v", keyID, got)
		}
		var ids, want []string
		for _, in := range got {
			ids = append(ids, in.ID)
		}
		for _, in := range m.inboxes {
			if in.KeyID == keyID {
				want = append(want, in.ID)
			}
		}
		slices.Sort(ids)
		slices.Sort(want)
		if !slices.Equal(ids, want) {
			t.Fatalf("%s has inboxes %v, want %v", keyID, ids, want)
		}
		emails, err := m.EmailsToday(ctx, keyID, service.DayOf(m.now))
		must(t, err)
		if want := m.emails[fmt.Sprint(keyID, service.DayOf(m.now))]; emails != want {
			t.Fatalf("%s has %d messages today, want %d", keyID, emails, want)
		}
	}
	for _, in := range m.inboxes {
		summaries := list(t, m, in.Inbox)
		if want := in.messages(); len(summaries) != len(want) {
			t.Fatalf("%s has %d messages, want %d", in.ID, len(summaries), len(want))
		}
		var paged []service.Summary
		for next, size := uint64(len(in.raw))+1, 1+m.rand.IntN(9); ; {
			page, err := m.Messages(ctx, in.Inbox, next, size)
			must(t, err)
			if paged = append(paged, page...); len(page) < size {
				break
			}
			next, _ = service.MessageSeq(page[size-1].ID)
		}
		if !slices.Equal(paged, summaries) {
			t.Fatalf("%s has %d messages on pages, want %d", in.ID, len(paged), len(summaries))
		}
		for i, raw := range in.raw {
			got, err := m.Message(ctx, in.Inbox, uint64(i+1))
			if raw == "" {
				wantCode(t, err, service.NotFound)
				continue
			}
			must(t, err)
			oldest := summaries[len(summaries)-1]
			summaries = summaries[:len(summaries)-1]
			if string(got.Raw) != raw || got.Summary != oldest {
				t.Fatalf("%s: message %d is %d bytes, want %d", in.ID, i+1, len(got.Raw), len(raw))
			}
		}
	}
	for _, in := range m.dead {
		_, err := m.Inbox(ctx, in.KeyID, in.ID)
		wantCode(t, err, service.NotFound)
		_, err = m.Message(ctx, in, uint64(cmp.Or(in.Messages, 1)))
		wantCode(t, err, service.NotFound)
		left, err := m.Messages(ctx, in, uint64(in.Messages)+1, 0)
		must(t, err)
		if len(left) != 0 {
			t.Fatalf("%d messages of a dead inbox are left", len(left))
		}
		wantCode(t, m.Append(ctx, service.Append{Received: m.now, Messages: to(in)}), service.NotFound)
		wantCode(t, m.DeleteInbox(ctx, in.KeyID, in.ID), service.NotFound)
	}
}
