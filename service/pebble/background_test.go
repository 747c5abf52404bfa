package pebble

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mayfly/service"
)

// opens counts how often tables are created or opened.
type opens struct{ atomic.Int32 }

func (*opens) String() string { return "opens" }
func (o *opens) MaybeError(op errorfs.Op) error {
	if path.Ext(op.Path) == ".sst" && (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpOpen) {
		o.Add(1)
	}
	return nil
}

// A table that cannot be opened is neither tried nor logged without end, and while no mail can be
// taken the store is not ready.
func TestTableThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, tries := vfs.NewMem(), &opens{}
		s, err := Open("store", Options{Log: testLog(t), fs: disk})
		must(t, err)
		in := testInbox(t, s, "ada")
		other := in
		other.ID, other.KeyID, other.Address = "inbox_other", "key_b", "other@x.test"
		other.ExpiresAt = noon.Add(time.Minute) // so that its keys are before those in the tables of the first
		must(t, s.CreateInbox(t.Context(), other))
		for i := range 3 {
			must(t, acknowledged(t, s, in, fmt.Sprint(i)))
			must(t, s.db.Flush())
		}
		must(t, s.Close())
		files, err := disk.List("store")
		must(t, err)
		files = slices.DeleteFunc(files, func(name string) bool { return path.Ext(name) != ".sst" })
		slices.Sort(files)
		damageFooter(t, disk, "store/"+files[len(files)-1])

		var logged atomic.Int32
		s, err = Open("store", Options{Log: countErrors(&logged), fs: errorfs.Wrap(disk, tries)})
		must(t, err)
		must(t, s.Ready(t.Context()))
		for range 9 { // enough to make a compaction necessary
			must(t, acknowledged(t, s, other, "next to it"))
			must(t, s.db.Flush())
		}
		time.Sleep(10 * time.Minute)
		for range 100 {
			wantCode(t, acknowledged(t, s, in, "in it"), service.Damaged)
		}
		if n := logged.Load(); n == 0 || n > 15 {
			t.Errorf("logged %d times in ten minutes", n)
		}
		if n := tries.Load(); n > 1000 {
			t.Errorf("tables were opened %d times", n)
		}
		err = s.Ready(t.Context())
		wantCode(t, err, service.Unavailable)
		if !strings.Contains(err.Error(), "could not be stored") {
			t.Error(err)
		}
		must(t, acknowledged(t, s, other, "next to it"))
		must(t, s.Ready(t.Context()))
		must(t, s.Close())
	})
}

func damageFooter(t *testing.T, disk vfs.FS, name string) {
	t.Helper()
	f, err := disk.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	_, err = f.WriteAt([]byte{0xff}, info.Size()-9)
	must(t, err)
	must(t, f.Close())
}

// While no file can be opened, the store tries again and logs that at most once a minute, and says
// why it takes no mail.
func TestTooManyOpenFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, injector, tries := vfs.NewMem(), &faults{}, &opens{}
		var logged atomic.Int32
		s, err := Open("store", Options{Log: countErrors(&logged), Memory: 1 << 20,
			fs: errorfs.Wrap(errorfs.Wrap(disk, injector), tries)})
		must(t, err)
		in := testInbox(t, s, "ada")
		time.Sleep(time.Second)
		injector.set(syscall.EMFILE, ".sst", errorfs.OpCreate)
		sent := make(chan int, 1)
		go func() {
			n := 0
			for acknowledged(t, s, in, "x") == nil && s.Ready(t.Context()) == nil && n < 1000 {
				n++
			}
			sent <- n
		}()
		time.Sleep(10 * time.Minute)
		err = s.Ready(t.Context())
		wantCode(t, err, service.Unavailable)
		if !strings.Contains(err.Error(), "too many open files") {
			t.Error(err)
		}
		wantCode(t, acknowledged(t, s, in, "refused at once"), service.Unavailable)
		if n := logged.Load(); n == 0 || n > 12 {
			t.Errorf("logged %d times in ten minutes", n)
		}
		if n := tries.Load(); n > 100 {
			t.Errorf("tables were created %d times", n)
		}
		injector.clear()
		time.Sleep(2 * time.Minute)
		must(t, s.Ready(t.Context()))
		must(t, acknowledged(t, s, in, "again"))
		must(t, s.Close())
		t.Logf("%d sent before and after", <-sent)
	})
}
