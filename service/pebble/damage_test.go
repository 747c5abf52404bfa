package pebble

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mayfly/service"
)

// copiesOpenStore skips a test that does, where LOCK cannot be read.
func copiesOpenStore(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows copies no LOCK of a store that is open")
	}
}

// killedStore makes a folder as a kill leaves it, of a store with messages in tables, in a log that
// was being flushed, and in the last log. It returns the number of messages.
func killedStore(t *testing.T) (dir string, in service.Inbox, messages int) {
	t.Helper()
	copiesOpenStore(t)
	live, dir := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "killed")
	injector := &faults{}
	s, err := Open(live, Options{Log: testLog(t), fs: errorfs.Wrap(vfs.Default, injector)})
	must(t, err)
	in = testInbox(t, s, "ada")
	send := func(n int) {
		for range n {
			must(t, acknowledged(t, s, in, fmt.Sprint(messages)))
			messages++
		}
	}
	send(50)
	must(t, s.db.Flush())
	send(25)
	injector.set(syscall.EMFILE, ".sst", errorfs.OpCreate)
	_, err = s.db.AsyncFlush()
	must(t, err)
	send(25)
	must(t, os.CopyFS(dir, os.DirFS(live)))
	injector.clear()
	must(t, s.Close())
	return dir, in, messages
}

var damages = map[string]func(name string) error{
	"removed":   os.Remove,
	"empty":     func(name string) error { return os.Truncate(name, 0) },
	"cut short": func(name string) error { return edit(name, func(b []byte) []byte { return b[:len(b)*2/3] }) },
	"flipped at the start": func(name string) error {
		return edit(name, func(b []byte) []byte { b[min(3, len(b)-1)] ^= 0x10; return b })
	},
	"flipped in the middle": func(name string) error {
		return edit(name, func(b []byte) []byte { b[len(b)/2] ^= 0x10; return b })
	},
	"flipped at the end": func(name string) error {
		return edit(name, func(b []byte) []byte { b[len(b)-9] ^= 0x10; return b })
	},
	"zeros at the end": func(name string) error {
		return edit(name, func(b []byte) []byte { clear(b[len(b)*2/3:]); return b })
	},
}

func edit(name string, change func([]byte) []byte) error {
	b, err := os.ReadFile(name)
	if err != nil || len(b) < 16 {
		return errors.Join(err, errTooSmall)
	}
	return os.WriteFile(name, change(b), 0o600)
}

var errTooSmall = errors.New("too small to be damaged")

var digits = regexp.MustCompile(`\d+`)

// Whatever happens to whichever file of a store, mail that is lost is said to be: the store is not
// opened, or the message is listed and reading it fails, or the loss is logged.
func TestNothingIsLostUnsaid(t *testing.T) {
	t.Parallel()
	killed, in, messages := killedStore(t)
	damageEach(t, killed, func(t *testing.T, dir, file, damage string) {
		t.Log(digits.ReplaceAllString(file, "N"), damage, "→", outcome(t, dir, in, messages))
	})
}

// damageEach runs a test on a copy of a store for each kind of damage to each of its files.
func damageEach(t *testing.T, store string, test func(t *testing.T, dir, file, damage string)) {
	files, err := os.ReadDir(store)
	must(t, err)
	for _, file := range files {
		for name, damage := range damages {
			t.Run(file.Name()+" "+name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "store")
				must(t, os.CopyFS(dir, os.DirFS(store)))
				if err := damage(filepath.Join(dir, file.Name())); errors.Is(err, errTooSmall) {
					t.Skip(err)
				} else {
					must(t, err)
				}
				test(t, dir, file.Name(), name)
			})
		}
	}
}

// outcome opens a store and says what became of its messages.
func outcome(t *testing.T, dir string, in service.Inbox, messages int) string {
	t.Helper()
	before, err := os.ReadDir(dir)
	must(t, err)
	var logged atomic.Int32
	s, err := Open(dir, Options{Log: countErrors(&logged)})
	if err != nil {
		if !strings.Contains(err.Error(), "admin store repair") {
			t.Errorf("the error does not say what to do: %v", err)
		}
		for _, file := range before {
			_, statErr := os.Stat(filepath.Join(dir, file.Name()))
			if errors.As(err, new(*DamageError)) && errors.Is(statErr, fs.ErrNotExist) {
				t.Errorf("%s was removed from a store that was not opened", file.Name())
			}
		}
		return "refused: " + err.Error()
	}
	defer func() { must(t, s.Close()) }()
	damaged := 0
	got, err := s.Inbox(t.Context(), in.KeyID, in.ID)
	if service.ErrorCode(err) == service.Damaged {
		return "the inbox cannot be read"
	}
	must(t, err)
	list, err := s.Messages(t.Context(), got, uint64(got.Messages)+1, 0)
	if err == nil && len(list) != messages {
		t.Errorf("%d of %d messages are listed", len(list), messages)
	}
	for place := range messages {
		m, err := s.Message(t.Context(), in, uint64(place)+1)
		switch {
		case service.ErrorCode(err) == service.Damaged:
			damaged++
		case err != nil:
			t.Errorf("message %d: %v", place, err)
		case !strings.HasPrefix(string(m.Raw), fmt.Sprint(place)+"."):
			t.Errorf("message %d has another body", place)
		}
	}
	if damaged > 0 && logged.Load() == 0 {
		t.Error("damage was not logged")
	}
	if damaged > 0 {
		return fmt.Sprintf("%d of %d messages are damaged", damaged, messages)
	}
	return "whole"
}

// A store whose addresses cannot be read opens, since other tables may be whole, and says that it
// takes no mail.
func TestDamagedAddressesAreNotReady(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(dir, Options{Log: testLog(t)})
	must(t, err)
	in := testInbox(t, s, "ada")
	must(t, s.db.Flush())
	must(t, s.Close())
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	must(t, err)
	for _, table := range tables {
		must(t, damages["flipped at the start"](table))
	}
	s, err = Open(dir, Options{Log: testLog(t)})
	must(t, err)
	_, err = s.InboxByAddress(t.Context(), in.Address)
	wantCode(t, err, service.Damaged)
	wantCode(t, s.Ready(t.Context()), service.Unavailable)
	must(t, s.Close())
}

// What can be read of a damaged store is saved, and what is lost is counted.
func TestRepair(t *testing.T) {
	t.Parallel()
	killed, in, messages := killedStore(t)
	damageEach(t, killed, func(t *testing.T, dir, _, _ string) {
		to := filepath.Join(t.TempDir(), "new")
		before := digest(t, dir)
		checked, err := Check(t.Context(), dir)
		t.Logf("check: %+v, %v", checked, err)
		repaired, rerr := Repair(t.Context(), dir, to)
		if fmt.Sprint(checked, err) != fmt.Sprint(repaired, rerr) {
			t.Errorf("repair: %+v, %v", repaired, rerr)
		}
		if after := digest(t, dir); after != before {
			t.Errorf("the folder was changed: %s\nit was %s", after, before)
		}
		if err != nil {
			if _, err := os.Stat(to); err == nil {
				t.Error("there is a new store")
			}
			return
		}
		if checked.Messages+checked.LostMessages != messages && len(checked.Damage) == 0 {
			t.Errorf("%d messages are not mentioned", messages-checked.Messages-checked.LostMessages)
		}
		s, err := Open(to, Options{Log: testLog(t)})
		must(t, err)
		defer func() { must(t, s.Close()) }()
		got, err := s.Inbox(t.Context(), in.KeyID, in.ID)
		if service.ErrorCode(err) == service.NotFound && checked.Inboxes == 0 {
			return
		}
		must(t, err)
		list, err := s.Messages(t.Context(), got, uint64(got.Messages)+1, 0)
		must(t, err)
		if len(list) != checked.Messages {
			t.Errorf("the new store lists %d messages", len(list))
		}
		must(t, acknowledged(t, s, in, "goes on"))
	})
}

// What the database only needs to be opened is checked, too: a store of which it is missing is refused
// at once, and all of it is saved.
func TestNotNeededForReading(t *testing.T) {
	t.Parallel()
	killed, _, messages := killedStore(t)
	for file, damage := range map[string]func(name string) error{
		"OPTIONS-*":        func(name string) error { return edit(name, func(b []byte) []byte { b[0] ^= 0x40; return b }) },
		formatPrefix + "*": os.Remove,
	} {
		dir := filepath.Join(t.TempDir(), "store")
		must(t, os.CopyFS(dir, os.DirFS(killed)))
		files, err := filepath.Glob(filepath.Join(dir, file))
		must(t, err)
		must(t, damage(files[len(files)-1]))
		r, err := Check(t.Context(), dir)
		must(t, err)
		if len(r.Damage) != 1 || r.Messages != messages || r.Unknown {
			t.Errorf("%s: check says %+v", file, r)
		}
		if _, err := Open(dir, Options{Log: testLog(t)}); !errors.As(err, new(*DamageError)) {
			t.Errorf("%s: opened: %v", file, err)
		}
	}
}

// A part of a table that cannot be read does not keep other tables from being saved.
func TestOtherTablesAreSaved(t *testing.T) {
	t.Parallel()
	live := filepath.Join(t.TempDir(), "store")
	s, err := Open(live, Options{Log: testLog(t)})
	must(t, err)
	must(t, s.CreateKey(t.Context(), service.StoredKey{Key: service.Key{ID: "key_a"}, Hash: [32]byte{1}}))
	must(t, s.db.Flush())
	in := testInbox(t, s, "ada")
	const messages = 40
	for i := range messages {
		must(t, acknowledged(t, s, in, fmt.Sprint(i)))
		if i%20 == 19 {
			must(t, s.db.Flush())
		}
	}
	must(t, s.Close())
	tables, err := filepath.Glob(filepath.Join(live, "*.sst"))
	must(t, err)
	if len(tables) != 3 {
		t.Fatalf("the tables are %q", tables)
	}
	for i, want := range []Report{{Keys: 0, Inboxes: 1, Messages: messages}, {Keys: 1}, {Keys: 1, Inboxes: 1, Messages: messages / 2}} {
		dir, to := filepath.Join(t.TempDir(), "damaged"), filepath.Join(t.TempDir(), "new")
		must(t, os.CopyFS(dir, os.DirFS(live)))
		must(t, damages["flipped at the start"](filepath.Join(dir, filepath.Base(tables[i]))))
		r, err := Repair(t.Context(), dir, to)
		must(t, err)
		if r.Keys != want.Keys || r.Inboxes != want.Inboxes || r.Messages != want.Messages || !r.Unknown {
			t.Errorf("with table %d damaged %+v", i, r)
		}
	}
}

// What was appended to a file of tables or bodies loses nothing.
func TestAppendedBytes(t *testing.T) {
	t.Parallel()
	dir, _, messages := killedStore(t)
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, file := range files {
		if ext := filepath.Ext(file.Name()); ext == ".sst" || ext == ".blob" {
			must(t, edit(filepath.Join(dir, file.Name()), func(b []byte) []byte { return append(b, padding...) }))
		}
	}
	r, err := Check(t.Context(), dir)
	must(t, err)
	if r.Messages != messages || r.LostMessages != 0 || r.Unknown || len(r.Damage) == 0 {
		t.Errorf("check says %+v", r)
	}
}

// A log that was closed and whose end is damaged is not opened, and said to be damaged.
func TestEndOfAClosedLog(t *testing.T) {
	t.Parallel()
	killed, _, messages := killedStore(t)
	logs, err := filepath.Glob(filepath.Join(killed, "*"+logExt))
	must(t, err)
	for _, damage := range []string{"short of a byte", "flipped in the last byte"} {
		dir := filepath.Join(t.TempDir(), "store")
		must(t, os.CopyFS(dir, os.DirFS(killed)))
		must(t, edit(filepath.Join(dir, filepath.Base(logs[len(logs)-2])), func(b []byte) []byte {
			if damage == "short of a byte" {
				return b[:len(b)-1]
			}
			b[len(b)-1] ^= 0x10
			return b
		}))
		r, err := Check(t.Context(), dir)
		must(t, err)
		if len(r.Damage) != 1 || r.Messages != messages {
			t.Errorf("%s: check says %+v", damage, r)
		}
		if _, err := Open(dir, Options{Log: testLog(t)}); !errors.As(err, new(*DamageError)) {
			t.Errorf("%s: opened: %v", damage, err)
		}
	}
}

// digest describes the files of a folder.
func digest(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	must(t, err)
	var all strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(filepath.Join(dir, file.Name()))
		must(t, err)
		fmt.Fprintf(&all, "%s %x\n", file.Name(), sha256.Sum256(b))
	}
	return all.String()
}

// A crash tears the last log, also the one in whose name the number has become longer.
func TestLastLogIsTheOneWithTheHighestNumber(t *testing.T) {
	t.Parallel()
	var whole bytes.Buffer
	w := record.NewWriter(&whole)
	_, err := w.WriteRecord([]byte("a record"))
	must(t, errors.Join(err, w.Close()))
	disk := vfs.NewMem()
	for name, content := range map[string][]byte{"999999.log": whole.Bytes(), "1000000.log": whole.Bytes()[:whole.Len()-1]} {
		f, err := disk.Create(name, vfs.WriteCategoryUnspecified)
		must(t, err)
		_, err = f.Write(content)
		must(t, errors.Join(err, f.Close()))
	}
	f := folder{files: []string{"1000000.log", "999999.log"}, readable: contents{sizes: map[string]int64{}}}
	must(t, f.checkLogs(disk, ""))
	if len(f.damage) > 0 {
		t.Errorf("%q", f.damage)
	}
}
