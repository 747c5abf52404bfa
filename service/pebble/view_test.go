package pebble

import (
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mayfly/service"
)

// What is not on disk is not shown: neither while it is being synced nor when that has failed.
func TestOnlyWhatIsOnDiskIsShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, slow := vfs.NewMem(), &slowSync{}
		s, err := Open("store", Options{Log: testLog(t), fs: errorfs.Wrap(disk, slow)})
		must(t, err)
		in := testInbox(t, s, "ada")
		must(t, acknowledged(t, s, in, "one"))
		want := func(subject ...string) {
			t.Helper()
			if got := subjects(t, s, in); !slices.Equal(got, subject) {
				t.Errorf("the list is %q, want %q", got, subject)
			}
			list, _, err := s.Inboxes(t.Context(), in.KeyID)
			must(t, err)
			if len(list) != 1 || list[0].Messages != len(subject) {
				t.Errorf("the list of inboxes is %+v", list)
			}
		}
		for _, fails := range []bool{false, true} {
			slow.err = nil
			if fails {
				slow.err = syscall.EIO
			}
			slow.delay = time.Minute
			done := make(chan error, 1)
			go func() { done <- acknowledged(t, s, in, "two") }()
			time.Sleep(time.Second)
			if fails {
				want("two", "one")
				wantCode(t, <-done, service.Unavailable)
			} else {
				want("one")
				must(t, <-done)
			}
			want("two", "one")
		}
		wantCode(t, s.CreateInbox(t.Context(), service.Inbox{ID: "inbox_x", KeyID: "key_a", Address: "x@x.test"}), service.Unavailable)
		want("two", "one")
		slow.delay = 0
		if err := s.Close(); err != nil {
			t.Logf("close: %v", err)
		}
	})
}

// slowSync makes each sync of a log take a while and fail.
type slowSync struct {
	delay time.Duration
	err   error
}

func (*slowSync) String() string { return "slow sync" }
func (s *slowSync) MaybeError(op errorfs.Op) error {
	if (op.Kind != errorfs.OpFileSyncData && op.Kind != errorfs.OpFileSync) || !isLog(op.Path) || s.delay == 0 {
		return nil
	}
	time.Sleep(s.delay)
	return s.err
}

func isLog(name string) bool { return name[max(0, len(name)-len(logExt)):] == logExt }
