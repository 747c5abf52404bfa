package service_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	s, _ := start(t, service.Dev, service.Options{})
	ctx := t.Context()
	secret, k, err := s.CreateKey(ctx, " CI\xe9 ", service.Startup)
	must(t, err)
	if !regexp.MustCompile(`^mf_[A-Za-z0-9_-]{32}$`).MatchString(secret) || k.Name != "CI\ufffd" { // metrics cannot have another text
		t.Errorf("key %+v with the secret %q", k, secret)
	}
	got, err := s.Authenticate(ctx, secret)
	must(t, err)
	if got != k {
		t.Errorf("authenticated %+v, want %+v", got, k)
	}
	for _, wrong := range []string{"", "mf_", secret[:len(secret)-1], secret + "x", strings.ToLower(secret), k.ID, strings.Repeat("x", 1<<20)} {
		_, err = s.Authenticate(ctx, wrong)
		wantCode(t, err, service.Unauthorized)
		if err.Error() != "Invalid API key" {
			t.Errorf("message %q", err)
		}
	}

	in := create(t, s, k, "ada")
	next, _, err := s.RotateKey(ctx, k.ID, 0)
	must(t, err)
	wantCode(t, fortest.Failure(s.Authenticate(ctx, secret)), service.Unauthorized)
	k, err = s.Authenticate(ctx, next)
	must(t, err)
	_, err = s.Inbox(ctx, k, in.ID)
	must(t, err)

	_, err = s.SetPlan(ctx, k.ID, service.Dev)
	must(t, err)
	k, err = s.Authenticate(ctx, next)
	must(t, err)
	if q, err := s.Allow(ctx, k); err != nil || q.Limit != 60 {
		t.Errorf("after the change of the plan: %+v, %v", q, err)
	}
	wantCode(t, fortest.Failure(s.SetPlan(ctx, k.ID, "gold")), service.Invalid)

	_, err = s.RevokeKey(ctx, k.ID)
	must(t, err)
	wantCode(t, fortest.Failure(s.Authenticate(ctx, next)), service.Unauthorized)
	_, _, err = s.RotateKey(ctx, k.ID, 0)
	wantCode(t, err, service.Invalid)
	wantCode(t, fortest.Failure(s.Recipient(ctx, "", in.Address)), service.NotFound)
	wantCode(t, fortest.Failure(s.RevokeKey(ctx, "key_none")), service.NotFound)

	all, err := s.Keys(ctx)
	must(t, err)
	if i := slices.IndexFunc(all, func(a service.Key) bool { return a.ID == k.ID }); len(all) != 2 || i < 0 || all[i].RevokedAt.IsZero() {
		t.Errorf("keys %+v", all)
	}
	_, _, err = s.CreateKey(ctx, "a\nb", service.Dev)
	wantCode(t, err, service.Invalid)
	_, _, err = s.CreateKey(ctx, "", "gold")
	wantCode(t, err, service.Invalid)
}

// A key that is rotated has two secrets for a while, and the list has its last use.
func TestRotatedKeyKeepsItsOldSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := start(t, service.Dev, service.Options{})
		ctx := t.Context()
		time.Sleep(time.Second) // the list is in the order of their times
		first, k, err := s.CreateKey(ctx, "ci", service.Dev)
		must(t, err)
		second, _, err := s.RotateKey(ctx, k.ID, 24*time.Hour)
		must(t, err)
		time.Sleep(24*time.Hour - time.Second)
		for _, secret := range []string{first, second} {
			must(t, fortest.Failure(s.Authenticate(ctx, secret)))
		}
		all, err := s.Keys(ctx)
		must(t, err)
		if used := all[1].UsedAt; !used.Equal(time.Now()) || !all[0].UsedAt.IsZero() {
			t.Errorf("last uses in %+v", all)
		}
		time.Sleep(time.Second)
		wantCode(t, fortest.Failure(s.Authenticate(ctx, first)), service.Unauthorized)
		must(t, fortest.Failure(s.Authenticate(ctx, second)))
		wantCode(t, fortest.Failure(s.EnsureKey(ctx, first, "", service.Dev)), service.Taken)

		third, _, err := s.RotateKey(ctx, k.ID, time.Hour)
		must(t, err)
		must(t, fortest.Failure(s.Authenticate(ctx, second)))
		must(t, fortest.Failure(s.RevokeKey(ctx, k.ID)))
		for _, secret := range []string{second, third} {
			wantCode(t, fortest.Failure(s.Authenticate(ctx, secret)), service.Unauthorized)
		}
	})
}

// A composed environment sets the secret of its key, and does so at each start.
func TestKeyWithAGivenSecret(t *testing.T) {
	t.Parallel()
	s, _ := start(t, service.Dev, service.Options{})
	ctx := t.Context()
	secret := strings.Repeat("s3cr3t-!", 4)
	wantCode(t, fortest.Failure(s.Authenticate(ctx, secret)), service.Unauthorized)

	made, err := s.EnsureKey(ctx, secret, "ci", service.Dev)
	must(t, err)
	got, err := s.Authenticate(ctx, secret)
	must(t, err)
	if got != made || made.Name != "ci" {
		t.Errorf("authenticated %+v, want %+v", got, made)
	}
	again, err := s.EnsureKey(ctx, secret, "renamed", service.Dev)
	must(t, err)
	if again != made {
		t.Errorf("the second time %+v, want %+v", again, made)
	}
	refuse := func(code service.Code, secret string, plan service.Plan, words string) {
		t.Helper()
		_, err = s.EnsureKey(ctx, secret, "", plan)
		wantCode(t, err, code)
		if !strings.Contains(err.Error(), words) || len(secret) > 3 && strings.Contains(err.Error(), secret) {
			t.Errorf("%q", err)
		}
	}
	refuse(service.Taken, secret, service.Startup, "mayfly admin key plan "+made.ID+" startup")
	refuse(service.Invalid, secret, "gold", "unknown plan")
	refuse(service.Invalid, "", service.Dev, "32 to 256 characters")
	refuse(service.Invalid, secret[:31], service.Dev, "has 31")
	refuse(service.Invalid, strings.Repeat("x", 257), service.Dev, "has 257")
	refuse(service.Invalid, secret+" "+secret, service.Dev, "without spaces")
	refuse(service.Invalid, secret+"\n"+secret, service.Dev, "line breaks")
	refuse(service.Invalid, secret+"é", service.Dev, "ASCII")

	_, err = s.RevokeKey(ctx, made.ID)
	must(t, err)
	refuse(service.Taken, secret, service.Dev, "was revoked")
}

func TestFreePlanHasNoAccess(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Dev, service.Options{})
	in := create(t, s, k, "ada")
	k, err := s.SetPlan(t.Context(), k.ID, service.Free)
	must(t, err)
	wantCode(t, fortest.Failure(s.Allow(t.Context(), k)), service.Forbidden)
	wantCode(t, fortest.Failure(s.Recipient(t.Context(), "", in.Address)), service.OverQuota)
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := start(t, service.Dev, service.Options{})
		ctx := t.Context()
		for i := range 60 {
			q, err := s.Allow(ctx, k)
			must(t, err)
			if q.Limit != 60 || q.Remaining != 59-i || q.Reset != time.Minute-time.Duration(i)*time.Second/2 {
				t.Fatalf("request %d: %+v", i, q)
			}
			time.Sleep(time.Second / 2)
		}
		q, err := s.Allow(ctx, k)
		wantCode(t, err, service.RateLimited)
		if q.Remaining != 0 || q.Reset != 30*time.Second || retryAfter(err) != 30*time.Second {
			t.Errorf("refused with %+v and %v", q, retryAfter(err))
		}
		other := createKey(t, s)
		_, err = s.Allow(ctx, other)
		must(t, err)

		time.Sleep(30*time.Second - time.Nanosecond)
		wantCode(t, fortest.Failure(s.Allow(ctx, k)), service.RateLimited)
		time.Sleep(time.Nanosecond)
		q, err = s.Allow(ctx, k)
		must(t, err)
		if q.Remaining != 0 || q.Reset != time.Second/2 {
			t.Errorf("allowed again with %+v", q)
		}

		// With a smaller plan, earlier requests still count.
		bigger, err := s.SetPlan(ctx, k.ID, service.Startup)
		must(t, err)
		q, err = s.Allow(ctx, bigger)
		must(t, err)
		if q.Limit != 300 || q.Remaining != 300-61 {
			t.Errorf("with a bigger plan %+v", q)
		}
		wantCode(t, fortest.Failure(s.Allow(ctx, k)), service.RateLimited)
	})
}

// Clients read all that they keep at once, which bounds the memory that this takes.
func TestClientStatesAreBounded(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Dev, service.Options{})
	kept := func(in service.Inbox, before, after []byte) error {
		return s.SetClientState(t.Context(), k, in.ID, before, after)
	}
	const each = 128 << 10
	first := create(t, s, k, "first")
	must(t, kept(first, nil, make([]byte, each)))
	for i := range service.MaxClientStates/each - 1 {
		must(t, kept(create(t, s, k, fmt.Sprint("more", i)), nil, make([]byte, each)))
	}
	last := create(t, s, k, "last")
	wantCode(t, kept(last, nil, []byte("1")), service.Forbidden)
	must(t, kept(first, make([]byte, each), make([]byte, each-1)))
	must(t, kept(last, nil, []byte("1")))
}
