package limits_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/service/limits"
)

func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ ip, want string }{
		{"192.0.2.1", "192.0.2.1/32"},
		{"::ffff:192.0.2.1", "192.0.2.1/32"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"fe80::1", "fe80::/64"},
	} {
		if got := limits.Prefix(&net.TCPAddr{IP: net.ParseIP(test.ip), Zone: "eth0"}); got.String() != test.want {
			t.Errorf("%s: got %v", test.ip, got)
		}
		if got := limits.ParsePrefix(net.JoinHostPort(test.ip, "25")); got.String() != test.want {
			t.Errorf("%s: parsed as %v", test.ip, got)
		}
	}
	if limits.Prefix(&net.UnixAddr{Name: "x"}).IsValid() || limits.ParsePrefix("@").IsValid() {
		t.Error("a Unix socket has an address")
	}
}

func TestGuesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		g := limits.NewGuesses(3, slog.New(slog.NewTextHandler(&log, nil)), "keys")
		one, two := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("192.0.2.2/32")
		g.RecordSuccess(one, "early")
		g.RecordFailure(one)
		g.RecordSuccess(one, "right")
		g.RecordFailure(one)
		want := func(p netip.Prefix, secret string, exceeded bool) {
			t.Helper()
			if g.Exceeded(p, secret) != exceeded {
				t.Errorf("%s, %q: exceeded is %v", p, secret, !exceeded)
			}
		}
		want(one, "guess", false)
		g.RecordFailure(one)
		want(one, "guess", true)
		want(one, "early", true)
		want(one, "right", false)
		want(one, "", true)
		if n := strings.Count(log.String(), "of=keys address=192.0.2.1\n"); n != 1 {
			t.Errorf("logged %d times: %s", n, &log)
		}
		want(two, "guess", false)
		time.Sleep(20 * time.Second)
		want(one, "guess", false)
		g.RecordFailure(one)
		want(one, "guess", true)
		time.Sleep(time.Hour)
		for range 3 {
			want(one, "guess", false)
			g.RecordFailure(one)
		}
		want(one, "guess", true)
		for i := range 64 { // the latest are remembered
			g.RecordSuccess(one, fmt.Sprint(i))
			want(one, fmt.Sprint(i), false)
		}
	})
	var none *limits.Guesses
	none.RecordFailure(netip.Prefix{})
	none.RecordSuccess(netip.Prefix{}, "x")
	if none.Exceeded(netip.Prefix{}, "x") || limits.NewGuesses(0, nil, "") != nil {
		t.Error("no limit is a limit")
	}
}
