package postgres

import (
	"strings"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
)

// A database that has reached its largest size takes no mail, but deletions, and mail once there is room.
func TestLargestSize(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		s := open(t, urls[0], Options{})
		in, gone := create(t, s, 1, time.Hour), create(t, s, 2, time.Hour)
		for _, in := range []service.Inbox{in, gone} {
			check(t, deliver(t.Context(), s, in, "x"))
		}
		check(t, s.Ready(t.Context()))
		s.maxSize = 1 << 20
		s.readSizes()
		for name, err := range map[string]error{"a delivery": deliver(t.Context(), s, in, "y"), "readiness": s.Ready(t.Context())} {
			if service.ErrorCode(err) != service.Full || !strings.Contains(err.Error(), sizeParameter) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wantMessages(t, s, in, 1)
		check(t, s.DeleteMessages(t.Context(), in, ""))
		check(t, s.DeleteInbox(t.Context(), gone.KeyID, gone.ID))
		check(t, fortest.Failure(s.Sweep(t.Context(), day, 10)))
		create(t, s, 3, time.Hour)
		s.maxSize = 1 << 40
		s.readSizes()
		check(t, deliver(t.Context(), s, in, "y"))
		wantMessages(t, s, in, 1)
	})
}

func TestLargestSizeInTheURL(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int64{"": 0, "&max_size=50GB": 50e9, "&max_size=1GiB": 1 << 30, "&max_size=1": -1, "&max_size=big": -1} {
		const url = "postgres://mayfly:secret@db.example/mayfly?sslmode=disable"
		got, size, err := cutSize(url + value)
		if want >= 0 && (err != nil || size != want || got != url) || want < 0 && (err == nil || strings.Contains(err.Error(), "secret") || CheckURL(url+value) == nil) {
			t.Errorf("%s: %s with %d, %v", value, got, size, err)
		}
	}
}
