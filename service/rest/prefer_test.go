package rest

import (
	"testing"
	"time"
)

func TestPreferredWait(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		prefer []string
		want   time.Duration
		ok     bool
	}{
		{nil, 0, false},
		{[]string{"respond-async"}, 0, false},
		{[]string{"wait"}, 0, false},
		{[]string{"wait=-1"}, 0, false},
		{[]string{"wait=1.5"}, 0, false},
		{[]string{"wait=99999999999999999999"}, (1<<31 - 1) * time.Second, true},
		{[]string{`note="a, wait=5; \", wait=6", wait=25`}, 25 * time.Second, true},
		{[]string{`note="a, wait=5`}, 0, false},
		{[]string{"waiting=5"}, 0, false},
		{[]string{"wait=0"}, 0, true},
		{[]string{"wait=25"}, 25 * time.Second, true},
		{[]string{`Wait = "25"`}, 25 * time.Second, true},
		{[]string{"respond-async, wait=25; unit=s, wait=3"}, 25 * time.Second, true},
		{[]string{"respond-async", "wait=25"}, 25 * time.Second, true},
	} {
		got, ok := preferredWait(test.prefer)
		if got != test.want || ok != test.ok {
			t.Errorf("preferredWait(%q) = %v, %v", test.prefer, got, ok)
		}
	}
}
