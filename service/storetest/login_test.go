package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mayfly/internal/fortest"
	"mayfly/service"
)

// logins sends mail from sessions of three keys and of none, to own and foreign domains, with tags and without, while
// keys make and delete inboxes, and compares where each mail is with a model: nobody ever gets another key's.
func logins(t *testing.T, st store) {
	s := service.New(st, service.Options{Domains: []string{"own.test", "second.test"}, Logins: true})
	keys := map[string]service.Key{"": {}}
	var names []string
	for range 3 {
		_, k, err := s.CreateKey(t.Context(), "", service.Dev)
		must(t, err)
		keys[k.ID], names = k, append(names, k.ID)
	}
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	m := loginModel{owners: map[string]string{}, live: map[string]string{}, messages: map[string]int{}}
	outcomes := map[string]int{}
	for step := range 260 {
		login := pick(append(names, "")...)
		local, domain := pick("ann", "ann+a", "ann+a+b", "bob", "bob+a", "Cy"), pick("own.test", "second.test", "gmail.com", "corp.example")
		address := local + "@" + domain
		switch {
		case step%5 == 4 && login != "":
			_, err := s.CreateInbox(t.Context(), keys[login], service.NewInbox{Username: local, Domain: "own.test"})
			if made := m.create(login, local+"@own.test"); made != (err == nil) {
				t.Fatalf("step %d: %s makes %s: %v, and the model %v", step, login, local, err, made)
			}
			continue
		case step%7 == 6 && login != "":
			in, err := s.InboxAt(t.Context(), keys[login], address)
			if err == nil {
				must(t, s.DeleteInbox(t.Context(), keys[login], in.ID))
				delete(m.live, m.slot(login, in.Address))
			}
			continue
		}
		want, code := m.deliver(login, address)
		to, err := s.Recipient(t.Context(), login, address)
		if err == nil {
			err = s.Deliver(t.Context(), service.Delivery{To: []service.Recipient{to}, Raw: []byte("Subject: x\r\n\r\n")})
		}
		if got := service.ErrorCode(err); got != code {
			t.Fatalf("step %d: %q sends to %s: %v, and the model %q", step, login, address, err, code)
		}
		kind := fmt.Sprint(login != "", " ", strings.HasSuffix(domain, ".test"), " ", code)
		outcomes[kind]++
		for _, id := range names {
			has := m.arrived(t, s, keys[id])
			if id == want && (len(has) != 1 || strings.Contains(has[0], "\x1f") || !strings.HasSuffix(has[0], "@"+domain)) || id != want && has != nil {
				t.Fatalf("step %d: %q sends to %s for %q: %s has it in %q", step, login, address, want, id, has)
			}
			if in, err := s.InboxAt(t.Context(), keys[id], address); id == want && (err != nil || in.Address != has[0]) {
				t.Fatalf("step %d: %s finds %q, %v at %s", step, id, in.Address, err, address)
			}
		}
	}
	for _, kind := range []string{"true true ", "true true not found", "true false ", "false true ", "false true not found", "false false not found"} {
		if outcomes[kind] == 0 {
			t.Errorf("no mail was of the kind %q: %v", kind, outcomes)
		}
	}
}

// loginModel knows who had an address first, and which inboxes there are. A slot is an address, at foreign domains with
// the key.
type loginModel struct {
	owners map[string]string
	live   map[string]string // the key, by slot

	messages map[string]int // by inbox
}

// arrived returns the addresses of a key's inboxes that have more messages than before.
func (m *loginModel) arrived(t *testing.T, s *service.Service, k service.Key) (addresses []string) {
	list, err := s.Inboxes(t.Context(), k, service.Page{})
	must(t, err)
	for _, in := range list.Inboxes {
		if in.Messages > m.messages[in.ID] {
			addresses = append(addresses, in.Address)
		}
		m.messages[in.ID] = in.Messages
	}
	return addresses
}

func (m *loginModel) slot(keyID, address string) string {
	if strings.HasSuffix(address, ".test") {
		return address
	}
	return address + " " + keyID
}

// at returns who has an address, who had it first or else the longest that it adds tags to, and whether that key has an
// inbox there.
func (m *loginModel) at(slot string) (owner string, live bool) {
	for _, a := range append(service.Untagged(slot), slot) {
		if had := m.owners[a]; had != "" {
			live = had == owner && live || m.live[a] != ""
			owner = had
		}
	}
	return owner, live
}

func (m *loginModel) create(keyID, address string) bool {
	slot := m.slot(keyID, strings.ToLower(address))
	if m.owners[slot] == "" {
		for _, a := range service.Untagged(slot) {
			if had := m.owners[a]; had != "" && had != keyID {
				return false
			}
		}
	}
	if had := m.owners[slot]; had != "" && had != keyID || m.live[slot] != "" {
		return false
	}
	m.owners[slot], m.live[slot] = keyID, keyID
	return true
}

func (m *loginModel) deliver(login, address string) (keyID string, code service.Code) {
	owner, live := m.at(m.slot(login, strings.ToLower(address)))
	switch {
	case live && (login == "" || login == owner):
		return owner, ""
	case login != "" && (owner == "" || owner == login) && m.create(login, address):
		return login, ""
	}
	return "", service.NotFound
}

// revoked refuses what a session sends after its key was revoked, and counts its mail to the plan.
func revoked(t *testing.T, st store) {
	s := service.New(st, service.Options{Domains: []string{"own.test"}, Logins: true})
	_, k, err := s.CreateKey(context.Background(), "", service.Dev)
	must(t, err)
	limit := service.Dev.Limits().EmailsPerDay
	send := func(n int) error {
		var to []service.Recipient
		for i := range n {
			r, err := s.Recipient(t.Context(), k.ID, fmt.Sprintf("n%d@gmail.com", i))
			if err != nil {
				return err
			}
			to = append(to, r)
		}
		return s.Deliver(t.Context(), service.Delivery{To: to, Raw: []byte("Subject: many\r\n\r\n")})
	}
	for range limit / 50 {
		must(t, send(50))
	}
	wantCode(t, send(1), service.OverQuota)
	_, err = s.RevokeKey(t.Context(), k.ID)
	must(t, err)
	wantCode(t, fortest.Failure(s.Recipient(t.Context(), k.ID, "fresh@gmail.com")), service.Unauthorized)
	wantCode(t, fortest.Failure(s.Recipient(t.Context(), k.ID, "n1@gmail.com")), service.Unauthorized)
	wantCode(t, fortest.Failure(s.Recipient(t.Context(), "", "n1@gmail.com")), service.NotFound)
}
