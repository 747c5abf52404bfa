package api

import (
	"net/http"
	"testing"
	"time"
)

func TestQuota(t *testing.T) {
	for _, c := range []struct {
		name          string
		policy, limit []string
		want          Quota
		ok            bool
	}{
		{"none", nil, nil, Quota{Remaining: -1}, false},
		{"as in the draft", []string{`"minute";q=60;w=60`}, []string{`"minute";r=38;t=22`}, Quota{60, time.Minute, 38, 22 * time.Second}, true},
		{"the one of a minute", []string{`"day";q=1000;w=86400, "minute";q=60;w=60`}, []string{`"day";r=999;t=5`, `"minute";r=0;t=9`}, Quota{60, time.Minute, 0, 9 * time.Second}, true},
		{"policy alone", []string{`"a";q=5;w=10`}, nil, Quota{5, 10 * time.Second, -1, 0}, true},
		{"rest alone", nil, []string{`"a";r=5`}, Quota{0, 0, 5, 0}, true},
		{"garbage", []string{`;;;===,,"`, `"a";q=-1;w=60`, `"a";q=1;w=0`, `"a";q=99999999999999;w=60`}, []string{`r=5`, `"a";r=x`}, Quota{Remaining: -1}, false},
	} {
		got, ok := parseQuota(http.Header{"Ratelimit-Policy": c.policy, "Ratelimit": c.limit})
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %v", c.name, got, ok)
		}
	}
}

func FuzzQuota(f *testing.F) {
	f.Add(`"minute";q=60;w=60`, `"minute";r=38;t=22`, `7`)
	f.Fuzz(func(t *testing.T, policy, limit, after string) {
		h := http.Header{"Ratelimit-Policy": {policy}, "Ratelimit": {limit}, "Retry-After": {after}}
		q, ok := parseQuota(h)
		if q.Limit < 0 || q.Window < 0 || q.Reset < 0 || q.Remaining < -1 {
			t.Errorf("%+v", q)
		}
		if ok {
			b := newBudget()
			b.adopt(q)
			if limit := b.Usage().Limit; limit < 1 {
				t.Errorf("%+v makes the limit %d", q, limit)
			}
			if _, wait := b.Background(); wait < 0 || wait > time.Minute {
				t.Errorf("%+v makes the background wait %v", q, wait)
			}
		}
		if d := RetryAfter(h, time.Now()); d < 0 || d > 24*time.Hour {
			t.Errorf("Retry-After: %v", d)
		}
	})
}
