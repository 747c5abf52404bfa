package limits_test

import (
	"net"
	"testing"

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
