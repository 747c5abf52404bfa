package pebble

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mayfly/internal/fortest"
	"mayfly/service"
)

var noon = time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC)

func testInbox(t *testing.T, s *Store, name string) service.Inbox {
	t.Helper()
	in := service.Inbox{
		ID: "inbox_" + name, KeyID: "key_a", Address: name + "@x.test",
		CreatedAt: noon, ExpiresAt: noon.Add(time.Hour),
	}
	must(t, s.CreateInbox(t.Context(), in, math.MaxInt))
	return in
}

var must = fortest.Must

// checkShares checks that each shared body has as many messages as are counted, and that there is none without.
func checkShares(t *testing.T, s *Store) (bodies int) {
	t.Helper()
	shares, counts := map[string]int{}, map[string]int{}
	each := func(prefix byte, visit func(name, value []byte)) {
		must(t, s.scan(t.Context(), []byte{prefix}, []byte{prefix + 1}, func(key, value []byte) (bool, error) {
			visit(key[1:], value)
			return true, nil
		}))
	}
	each(sharePrefix, func(_, body []byte) { shares[string(body)]++ })
	each(sharesPrefix, func(body, n []byte) { counts[string(body)] = int(n[0]) })
	each(bodyPrefix, func(body, raw []byte) {
		if bodies++; int(bodySize(body)) != len(raw) || counts[string(body)] == 0 {
			t.Errorf("a body of %d bytes, named %x, has %d messages", len(raw), body, counts[string(body)])
		}
	})
	if !maps.Equal(shares, counts) || bodies != len(counts) {
		t.Errorf("%d bodies, of messages %v, counted as %v", bodies, shares, counts)
	}
	return bodies
}

func wantCode(t *testing.T, err error, code service.Code) {
	t.Helper()
	if got := service.ErrorCode(err); got != code {
		t.Fatalf("error %v has code %q, want %q", err, got, code)
	}
}

var padding = mailText(3000)

// acknowledged appends a message, to several inboxes if there are more, with the text as its subject and in its body.
func acknowledged(t testing.TB, s *Store, in service.Inbox, text string, more ...service.Inbox) error {
	a := delivery(in, append([]byte(text+"."), padding...))
	for _, in := range more {
		a.Messages = append(a.Messages, delivery(in, nil).Messages...)
	}
	for i := range a.Messages {
		a.Messages[i].Subject = text
	}
	return s.Append(t.Context(), a)
}

// subjects returns the subjects in an inbox, and checks that their bodies are there.
func subjects(t *testing.T, s *Store, in service.Inbox) []string {
	t.Helper()
	got, err := s.Inbox(t.Context(), in.KeyID, in.ID)
	must(t, err)
	list, err := s.Messages(t.Context(), got, got.Last+1, 0)
	must(t, err)
	if len(list) != got.Messages {
		t.Fatalf("%d messages counted, %d listed", got.Messages, len(list))
	}
	var subjects []string
	for _, sum := range list {
		seq, _ := service.MessageSeq(sum.ID)
		m, err := s.Message(t.Context(), in, seq)
		must(t, err)
		if !strings.HasPrefix(string(m.Raw), sum.Subject+".") || len(m.Raw) != len(sum.Subject)+1+len(padding) {
			t.Fatalf("message %q has a body of %d bytes", sum.Subject, len(m.Raw))
		}
		subjects = append(subjects, sum.Subject)
	}
	return subjects
}

// wantAll checks that what was acknowledged is in an inbox.
func wantAll(t *testing.T, s *Store, in service.Inbox, sent ...string) {
	t.Helper()
	got := subjects(t, s, in)
	for _, text := range sent {
		if !slices.Contains(got, text) {
			t.Errorf("%q was acknowledged and is lost: the list is %q", text, got)
		}
	}
}

// mustOpen opens a store, whose log goes to the test's output unless it has another.
func mustOpen(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	if o.Log == nil {
		o.Log = testLog(t)
	}
	s, err := Open(dir, o)
	must(t, err)
	return s
}

// onFaultyDisk opens a store on a disk for faults, with a message in an inbox.
func onFaultyDisk(t *testing.T) (*vfs.MemFS, *faults, *Store, service.Inbox) {
	t.Helper()
	disk, injector := vfs.NewMem(), &faults{}
	s := mustOpen(t, "store", Options{fs: errorfs.Wrap(disk, injector)})
	in := testInbox(t, s, "ada")
	must(t, acknowledged(t, s, in, "before"))
	return disk, injector, s, in
}

type faults struct{ err atomic.Pointer[fault] }

type fault struct {
	err   error
	kinds []errorfs.OpKind
	ext   string // of the affected files; empty: all
}

func (f *faults) set(err error, ext string, kinds ...errorfs.OpKind) {
	f.err.Store(&fault{err, kinds, ext})
}
func (f *faults) clear()         { f.err.Store(nil) }
func (f *faults) String() string { return "faults" }
func (f *faults) MaybeError(op errorfs.Op) error {
	if e := f.err.Load(); e != nil && slices.Contains(e.kinds, op.Kind) && strings.HasSuffix(op.Path, e.ext) {
		return e.err
	}
	return nil
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, injector, s, in := onFaultyDisk(t)
		sent := []string{"before"}
		send := func(text string) error {
			err := acknowledged(t, s, in, text)
			if err == nil {
				sent = append(sent, text)
			}
			return err
		}

		injector.set(noSpace, "", errorfs.OpFileWrite, errorfs.OpCreate)
		for i := range 20 {
			wantCode(t, send(fmt.Sprintf("full %d", i)), service.Full)
		}
		wantCode(t, s.Ready(t.Context()), service.Full)
		wantAll(t, s, in, "before")
		time.Sleep(time.Minute)
		wantCode(t, send("still full"), service.Full)

		injector.clear()
		time.Sleep(time.Second)
		must(t, s.Ready(t.Context()))
		must(t, send("after"))
		must(t, s.Close())

		s = mustOpen(t, "store", Options{fs: disk})
		wantAll(t, s, in, sent...)
		must(t, s.Close())
	})
}

func TestDiskFullAtClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, injector, s, in := onFaultyDisk(t)
		injector.set(noSpace, "", errorfs.OpFileWrite, errorfs.OpCreate)
		wantCode(t, acknowledged(t, s, in, "full"), service.Full)
		t.Log("close:", s.Close())
		s = mustOpen(t, "store", Options{fs: disk})
		wantAll(t, s, in, "before")
		must(t, s.Close())
	})
}

func TestReserve(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem()
		disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30})
		s := mustOpen(t, "store", Options{fs: disk, Reserve: 1 << 20})
		in, other := testInbox(t, s, "ada"), testInbox(t, s, "other")
		must(t, acknowledged(t, s, in, "one"))
		disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1<<20 - 1})
		time.Sleep(spaceCheckInterval)
		wantCode(t, acknowledged(t, s, in, "two"), service.Full)
		wantCode(t, s.Ready(t.Context()), service.Full)
		wantCode(t, s.CreateInbox(t.Context(), service.Inbox{KeyID: "key", ID: "new", Address: "new@x.test"}, 10), service.Full) // as mail to any address would
		must(t, s.DeleteInbox(t.Context(), other.KeyID, other.ID))                                                               // which is how space is made
		disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1<<20 + 4*uint64(len(padding))})
		time.Sleep(spaceCheckInterval)
		must(t, acknowledged(t, s, in, "three"))
		wantCode(t, acknowledged(t, s, in, "four, before anybody looked at the disk again"), service.Full)
		if got := subjects(t, s, in); !slices.Equal(got, []string{"three", "one"}) {
			t.Errorf("the list is %q", got)
		}
		must(t, s.Close())
	})
}

// The default reserve leaves most of a small disk for mail.
func TestSmallDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem()
		disk.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 40 << 20, AvailBytes: 11 << 20})
		s := mustOpen(t, "store", Options{fs: disk})
		in := testInbox(t, s, "ada")
		must(t, acknowledged(t, s, in, "one"))
		disk.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 40 << 20, AvailBytes: 10<<20 - 1})
		time.Sleep(spaceCheckInterval)
		wantCode(t, acknowledged(t, s, in, "two"), service.Full)
		must(t, s.Close())
	})
}

// Opening a store without enough disk space fails, instead of waiting silently.
func TestOpenOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem()
	s := mustOpen(t, "store", Options{fs: disk})
	must(t, acknowledged(t, s, testInbox(t, s, "ada"), "one"))
	must(t, s.Close())
	disk.TestingSetDiskUsage(vfs.DiskUsage{TotalBytes: 1 << 30, AvailBytes: leastSpace})
	if _, err := Open("store", Options{Log: testLog(t), fs: disk}); !errors.Is(err, noSpace) {
		t.Errorf("opened on a full disk: %v", err)
	}
}

// After a write or a sync has failed, nothing is acknowledged any more, but what was is still
// there.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	for _, kind := range []errorfs.OpKind{errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk, injector, s, in := onFaultyDisk(t)
				injector.set(syscall.EIO, ".log", kind)
				var failed bool
				for i := range 20 {
					switch err := acknowledged(t, s, in, fmt.Sprintf("broken %d", i)); service.ErrorCode(err) {
					case "":
						if failed {
							t.Error("acknowledged after a failure")
						}
					case service.Unavailable:
						failed = true
					default:
						t.Fatal(err)
					}
				}
				if failed {
					wantCode(t, s.Ready(t.Context()), service.Unavailable)
					wantFailure(t, s, "input/output error")
				} else if kind == errorfs.OpFileWrite {
					t.Error("nothing failed")
				}
				wantAll(t, s, in, "before")
				t.Log("close:", s.Close())
				injector.clear()
				s = mustOpen(t, "store", Options{fs: disk})
				wantAll(t, s, in, "before")
				must(t, s.Close())
			})
		})
	}
}

// Without any mail, a disk that cannot be written is found.
func TestReadyWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, injector, s, _ := onFaultyDisk(t)
		must(t, s.Ready(t.Context()))
		injector.set(syscall.EIO, ".log", errorfs.OpFileWrite)
		wantCode(t, s.Ready(t.Context()), service.Unavailable)
		t.Log("close:", s.Close())
	})
}

// While the disk does not respond, the store is not ready, but can be read.
func TestDiskHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem()
		s := mustOpen(t, "store", Options{fs: disk})
		in := testInbox(t, s, "ada")
		must(t, s.Close())
		slow := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpFileSyncData && strings.HasSuffix(op.Path, ".log") {
				time.Sleep(time.Minute)
			}
			return nil
		})
		s = mustOpen(t, "store", Options{fs: errorfs.Wrap(disk, slow)})
		time.Sleep(time.Second)
		done := make(chan error, 1)
		go func() { done <- acknowledged(t, s, in, "slow") }()
		for range 2 {
			soon, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			wantCode(t, s.Ready(soon), service.Unavailable)
			cancel()
			time.Sleep(syncTimeout) // now mail is refused at once
		}
		wantCode(t, acknowledged(t, s, in, "refused"), service.Unavailable)
		_, err := s.Inbox(t.Context(), in.KeyID, in.ID)
		must(t, err)
		must(t, <-done)
		must(t, s.Ready(t.Context()))
		must(t, s.Close())
	})
}

// A power cut loses what was not synced, but nothing that was acknowledged.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	for cut := range 30 {
		t.Log("cut", cut)
		disk := vfs.NewCrashableMem()
		s := mustOpen(t, "store", Options{fs: disk, Memory: 1 << 20}) // many logs
		ins := []service.Inbox{testInbox(t, s, "one"), testInbox(t, s, "two")}
		doomed := testInbox(t, s, "doomed")
		must(t, acknowledged(t, s, doomed, "x", ins[0]))
		var mu sync.Mutex
		sent, also := [2][]string{}, [2][]string{{"x"}}
		var deleted bool
		enough := make(chan struct{})
		var writers sync.WaitGroup
		for w := range 8 {
			writers.Go(func() {
				for i := range 20 {
					text := fmt.Sprintf("%d/%d", w, i)
					var other []service.Inbox
					if i%3 == 0 {
						other = ins[1-w%2 : 2-w%2]
					}
					if err := acknowledged(t, s, ins[w%2], text, other...); err != nil {
						t.Error(err)
					}
					mu.Lock()
					sent[w%2] = append(sent[w%2], text)
					if other != nil {
						also[1-w%2] = append(also[1-w%2], text)
					}
					if len(sent[0])+len(sent[1]) == cut*5+1 {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		writers.Go(func() {
			if err := s.DeleteInbox(t.Context(), doomed.KeyID, doomed.ID); err != nil {
				t.Error(err)
			}
			mu.Lock()
			deleted = true
			mu.Unlock()
		})
		<-enough
		mu.Lock()
		want := [2][]string{slices.Concat(sent[0], also[0]), slices.Concat(sent[1], also[1])}
		wasDeleted := deleted
		// Some of what was not synced is there.
		after := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: cut % 3 * 50, RNG: rand.New(rand.NewPCG(0, uint64(cut)))})
		mu.Unlock()
		writers.Wait()
		must(t, s.Close())

		s = mustOpen(t, "store", Options{fs: after})
		for i, in := range ins {
			wantAll(t, s, in, want[i]...)
		}
		if _, err := s.Inbox(t.Context(), doomed.KeyID, doomed.ID); wasDeleted != (service.ErrorCode(err) == service.NotFound) && wasDeleted {
			t.Errorf("cut %d: a deleted inbox is back", cut)
		}
		checkShares(t, s)
		must(t, s.Close())
	}
}

// A power cut at any moment, in the first opening or in later ones, while logs end and in between,
// leaves a store that opens and has all that was acknowledged.
func TestPowerCutAnywhere(t *testing.T) {
	t.Parallel()
	type cut struct {
		disk *vfs.MemFS
		sent int
	}
	for _, percent := range []int{0, 50, 100} { // of what was not synced is there
		disk, rng := vfs.NewCrashableMem(), rand.New(rand.NewPCG(rand.Uint64(), uint64(percent)))
		var mu sync.Mutex
		var cuts []cut
		sent := 0
		cutting := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				mu.Lock()
				defer mu.Unlock()
				cuts = append(cuts, cut{disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}), sent})
			}
			return nil
		}))
		in := service.Inbox{ID: "inbox_ada", KeyID: "key_a", Address: "ada@x.test", CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}
		for range 2 {
			s := mustOpen(t, "store", Options{fs: cutting})
			if sent == 0 {
				must(t, s.CreateInbox(t.Context(), in, math.MaxInt))
			}
			for range 2 {
				must(t, acknowledged(t, s, in, fmt.Sprint(sent)))
				mu.Lock()
				sent++
				mu.Unlock()
				must(t, s.flush())
			}
			must(t, s.Close())
		}
		for i, c := range cuts {
			s, err := Open("store", Options{Log: testLog(t), fs: c.disk})
			if err != nil {
				t.Errorf("%d%%: cut %d of %d, after %d messages: %v", percent, i, len(cuts), c.sent, err)
				continue
			}
			if c.sent > 0 {
				if got := subjects(t, s, in); len(got) < c.sent {
					t.Errorf("%d%%: cut %d: %d messages were acknowledged, there are %q", percent, i, c.sent, got)
				}
			}
			must(t, s.Close())
		}
	}
}

// Bytes that change on disk are detected and logged; what does not need them is served.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	var logged atomic.Int32
	s := mustOpen(t, dir, Options{Log: countErrors(&logged)})
	in, other := testInbox(t, s, "ada"), testInbox(t, s, "other")
	for i := range 50 {
		must(t, acknowledged(t, s, in, fmt.Sprint(i)))
	}
	must(t, s.flush())
	must(t, acknowledged(t, s, other, "later"))
	must(t, s.flush())
	must(t, s.Close())

	blobs, err := filepath.Glob(filepath.Join(dir, "*.blob"))
	must(t, err)
	if len(blobs) != 2 {
		t.Fatalf("bodies are in %q, want two files", blobs)
	}
	slices.Sort(blobs)
	b, err := os.ReadFile(blobs[0])
	must(t, err)
	b[len(b)/3] ^= 0x10
	must(t, os.WriteFile(blobs[0], b, 0o600))

	s = mustOpen(t, dir, Options{Log: countErrors(&logged)})
	damaged := 0
	for seq := uint64(1); seq <= 50; seq++ {
		m, err := s.Message(t.Context(), in, seq)
		switch service.ErrorCode(err) {
		case service.Damaged:
			damaged++
		case "":
			if want := fmt.Sprint(seq-1) + "."; !strings.HasPrefix(string(m.Raw), want) {
				t.Errorf("message %d has another body", seq)
			}
		default:
			t.Fatal(err)
		}
	}
	if damaged == 0 || damaged == 50 || logged.Load() == 0 {
		t.Errorf("%d of 50 messages are damaged, logged %d times", damaged, logged.Load())
	}
	got, err := s.Inbox(t.Context(), in.KeyID, in.ID)
	must(t, err)
	if list, err := s.Messages(t.Context(), got, 51, 0); err != nil || len(list) != 50 {
		t.Errorf("the list has %d messages, %v", len(list), err)
	}
	if got := subjects(t, s, other); !slices.Equal(got, []string{"later"}) {
		t.Errorf("another inbox lists %q", got)
	}
	must(t, acknowledged(t, s, in, "goes on"))
	must(t, s.Close())

	// A truncated file cannot even be opened.
	must(t, os.Truncate(blobs[1], 100))
	logged.Store(0)
	s = mustOpen(t, dir, Options{Log: countErrors(&logged)})
	if _, err := s.Message(t.Context(), other, 1); service.ErrorCode(err) != service.Damaged || logged.Load() == 0 {
		t.Errorf("the message in a truncated file: %v, logged %d times", err, logged.Load())
	}
	must(t, acknowledged(t, s, other, "goes on"))
	must(t, s.Close())

	// A log cannot be told from one that a power cut has cut off, so nothing is in the log of a store that was closed.
	left, err := filepath.Glob(filepath.Join(dir, logs))
	must(t, err)
	for _, name := range left {
		must(t, os.Truncate(name, 0))
	}
	s = mustOpen(t, dir, Options{})
	got, err = s.Inbox(t.Context(), other.KeyID, other.ID)
	must(t, err)
	if list, err := s.Messages(t.Context(), got, 51, 0); err != nil || len(list) != 2 {
		t.Errorf("with an empty log, the list has %d messages, %v", len(list), err)
	}
	must(t, s.Close())
}

// A fault in the background, which the database would repeat at once and for ever, ends the store with a
// line that says what to do. Those who wait for the disk are answered, and nothing is lost.
func TestFaultInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem()
		var failing atomic.Bool // the next table takes a minute to create, and then fails
		slow := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind != errorfs.OpCreate || !strings.HasSuffix(op.Path, ".sst") || !failing.Swap(false) {
				return nil
			}
			time.Sleep(time.Minute)
			return syscall.EIO
		})
		s := mustOpen(t, "store", Options{fs: errorfs.Wrap(disk, slow), Memory: 1 << 20})
		in := testInbox(t, s, "ada")
		failing.Store(true)
		var sent []string
		var err error
		for err == nil {
			text := fmt.Sprint(len(sent))
			if err = acknowledged(t, s, in, text); err == nil {
				sent = append(sent, text)
			}
		}
		wantCode(t, err, service.Unavailable)
		wantFailure(t, s, "input/output error")
		wantCode(t, s.Ready(t.Context()), service.Unavailable)
		wantCode(t, s.DeleteInbox(t.Context(), in.KeyID, in.ID), service.Unavailable)
		must(t, s.Close())

		s = mustOpen(t, "store", Options{fs: disk})
		wantAll(t, s, in, sent...)
		must(t, s.Close())
	})
}

// What panics while a group is made ends the store with a line, too.
func TestPanicInAGroup(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), Options{})
	in := testInbox(t, s, "ada")
	must(t, acknowledged(t, s, in, "one"))
	wantCode(t, s.commit(t.Context(), 0, func(*group) error { panic(pebbledb.ErrBatchTooLarge) }), service.Unavailable)
	wantFailure(t, s, "too large")
	wantCode(t, acknowledged(t, s, in, "two"), service.Unavailable)
	wantAll(t, s, in, "one")
	must(t, s.Close())
}

func wantFailure(t *testing.T, s *Store, cause string) {
	t.Helper()
	err := s.Wait(t.Context())
	if err == nil || !strings.Contains(err.Error(), cause) || !strings.HasSuffix(err.Error(), advice) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the store has failed: %v", err)
	}
}

// A manifest that cannot be made, once, when opening writes mail to a table, ends the store in one line.
func TestManifestThatCannotBeMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, _, s, in := onFaultyDisk(t)
		must(t, s.Close())
		var failed atomic.Bool // later attempts succeed: no fake time passes while the database repeats them at once
		once := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpCreate && strings.Contains(op.Path, "MANIFEST-") && !failed.Swap(true) {
				return syscall.EMFILE
			}
			return nil
		})
		s = mustOpen(t, "store", Options{fs: errorfs.Wrap(disk, once)})
		wantFailure(t, s, "too many open files")
		must(t, s.Close())
		s = mustOpen(t, "store", Options{fs: disk})
		wantAll(t, s, in, "before")
		must(t, s.Close())
	})
}
