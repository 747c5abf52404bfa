package pebble

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mayfly/service"
)

func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

func countErrors(n *atomic.Int32) *slog.Logger { return slog.New(counter{slog.DiscardHandler, n}) }

type counter struct {
	slog.Handler
	n *atomic.Int32
}

func (c counter) Enabled(context.Context, slog.Level) bool { return true }

func (c counter) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		c.n.Add(1)
	}
	return nil
}

// A store that is closed while it is read waits for its readers, and those who come later are told.
func TestCloseWaitsForReaders(t *testing.T) {
	t.Parallel()
	for range 8 {
		s, err := OpenMemory(Options{Log: testLog(t)})
		must(t, err)
		in := testInbox(t, s, "ada")
		for i := range 20 {
			must(t, acknowledged(t, s, in, fmt.Sprint(i)))
		}
		var readers sync.WaitGroup
		started := make(chan struct{}, 8)
		for range cap(started) {
			readers.Go(func() {
				started <- struct{}{}
				for err := error(nil); service.ErrorCode(err) != service.Unavailable; {
					if _, err = s.Messages(t.Context(), in, 21, 0); err == nil {
						_, err = s.Message(t.Context(), in, 7)
					}
					if err != nil && err != error(service.ErrClosed) {
						t.Error(err)
					}
				}
			})
		}
		for range cap(started) {
			<-started
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		readers.Wait()
	}
}

// A backup has everything that was acknowledged before it, wherever the database keeps it, and
// nothing later.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, filepath.Join(dir, "store"), Options{})
	in := testInbox(t, s, "ada")
	var want []string
	for i := range 40 {
		if i == 20 { // some in tables and files of bodies, some in the log
			must(t, s.flush())
		}
		want = append(want, fmt.Sprint(i))
		must(t, acknowledged(t, s, in, want[i]))
	}
	backup := filepath.Join(dir, "backup")
	must(t, s.Backup(t.Context(), backup))
	if err := s.Backup(t.Context(), backup); err == nil {
		t.Error("a backup went over another")
	}
	must(t, s.DeleteInbox(t.Context(), in.KeyID, in.ID))
	must(t, s.Close())

	restored := mustOpen(t, backup, Options{})
	got := subjects(t, restored, in)
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Errorf("the backup has %q", got)
	}
	must(t, restored.Close())
}

// What is not on disk is not shown: neither while it is being synced nor when that has failed.
func TestOnlyWhatIsOnDiskIsShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, slow := vfs.NewMem(), &slowSync{}
		s := mustOpen(t, "store", Options{fs: errorfs.Wrap(disk, slow)})
		s.removed.Store(false) // so that no tidying syncs meanwhile
		in := testInbox(t, s, "ada")
		must(t, acknowledged(t, s, in, "one"))
		want := func(subject ...string) {
			t.Helper()
			if got := subjects(t, s, in); !slices.Equal(got, subject) {
				t.Errorf("the list is %q, want %q", got, subject)
			}
			list, _, err := s.Inboxes(t.Context(), service.PageOfInboxes{KeyID: in.KeyID, CreatedAt: in.ExpiresAt, Limit: 9})
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
		wantCode(t, s.CreateInbox(t.Context(), service.Inbox{ID: "inbox_x", KeyID: "key_a", Address: "x@x.test"}, math.MaxInt), service.Unavailable)
		want("two", "one")
		slow.delay = 0
		t.Log("close:", s.Close())
	})
}

// slowSync makes each sync of a log take a while and fail.
type slowSync struct {
	delay time.Duration
	err   error
}

func (*slowSync) String() string { return "slow sync" }
func (s *slowSync) MaybeError(op errorfs.Op) error {
	if (op.Kind != errorfs.OpFileSyncData && op.Kind != errorfs.OpFileSync) || !strings.HasSuffix(op.Path, ".log") || s.delay == 0 {
		return nil
	}
	time.Sleep(s.delay)
	return s.err
}
