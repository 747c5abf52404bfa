package registry_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api/watch"
	"mayfly/internal/fortest"
	"mayfly/internal/registry"
)

const base = "https://mail.example"

func inbox(id string) registry.Inbox {
	now := time.Now().UTC().Truncate(time.Millisecond)
	return registry.Inbox{ID: id, Email: id + "@mail.example", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
}

var must = fortest.Must

func list(t *testing.T, r *registry.Registry) []registry.Inbox {
	t.Helper()
	all, err := r.List()
	must(t, err)
	return all
}

func ids(all []registry.Inbox) string {
	var ids []string
	for _, i := range all {
		ids = append(ids, i.ID)
	}
	return strings.Join(ids, " ")
}

func files(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	must(t, err)
	return paths
}

func TestPutListRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mayfly")
	r := registry.Open(dir, "default", base)
	if all := list(t, r); len(all) != 0 {
		t.Errorf("an empty registry has %v", all)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("listing made a folder")
	}
	old, young := inbox("old"), inbox("young")
	old.CreatedAt, old.Label = old.CreatedAt.Add(-time.Minute), "for the signup test"
	must(t, errors.Join(r.Put(old), r.Put(young)))
	if all := list(t, r); len(all) != 2 || all[0] != young || all[1] != old {
		t.Errorf("List: %+v", all)
	}
	again := old
	again.Label, again.Email = "", "new@mail.example"
	must(t, r.Put(again))
	if all := list(t, r); all[1].Label != old.Label || all[1].Email != again.Email {
		t.Errorf("List: %+v", all)
	}
	if err := errors.Join(r.Remove("young"), r.Remove("unknown")); err != nil || ids(list(t, r)) != "old" {
		t.Errorf("Remove: %v", err)
	}
	if err := r.Put(registry.Inbox{Email: "no ID"}); err == nil {
		t.Error("an inbox without an ID is kept")
	}
}

func TestProfilesAndServicesAreApart(t *testing.T) {
	dir := t.TempDir()
	must(t, registry.Open(dir, "default", base).Put(inbox("a")))
	for _, other := range [][2]string{{"other", base}, {"default", "https://other.example"}, {"default" + base, ""}, {"", ""}} {
		if all := list(t, registry.Open(dir, other[0], other[1])); len(all) != 0 {
			t.Errorf("%v: %v", other, all)
		}
	}
	if all := list(t, registry.Open(dir, "default", base+"/")); len(all) != 1 {
		t.Error("a slash at the end makes a difference")
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	dir := filepath.Join(t.TempDir(), "mayfly")
	must(t, registry.Open(dir, "default", base).Put(inbox("a")))
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if want := map[bool]os.FileMode{true: 0o700, false: 0o600}[d.IsDir()]; err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestHostileIDs(t *testing.T) {
	parent := t.TempDir()
	r := registry.Open(filepath.Join(parent, "a"), "../../x", "https://mail.example/../..")
	hostile := []string{"../../etc/passwd", "/etc/passwd", "a/b", `a\b`, "CON", "..", ".", "\x00", "\x1b[2J", strings.Repeat("long", 1000), "a.json", "ä", "A", "a"}
	for _, id := range hostile {
		i := inbox("x")
		i.ID, i.Label = id, id
		if err := r.Put(i); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	if all := list(t, r); len(all) != len(hostile) {
		t.Errorf("%d inboxes of %d", len(all), len(hostile))
	}
	for _, path := range files(t, parent) {
		if !strings.HasPrefix(path, filepath.Join(parent, "a", "inboxes")) {
			t.Errorf("a file at %s", path)
		}
	}
	for _, id := range hostile {
		must(t, r.Remove(id))
	}
	if len(list(t, r)) != 0 || len(files(t, parent)) != 0 {
		t.Error("something is left")
	}
}

func TestWhatIsOverIsForgottenAfterAWhile(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := registry.Open(dir, "default", base)
		forever := inbox("forever")
		forever.ExpiresAt = time.Time{}
		must(t, errors.Join(r.Put(inbox("a")), r.Put(forever)))
		handOver(t, r, "a", "1")
		handOver(t, r, "of another service", "1")
		must(t, r.SaveSeen("a", nil))
		for _, c := range []struct {
			later   time.Duration
			inboxes string
			files   int
		}{
			{2 * time.Hour, "a forever", 7}, // the file of a lock has the time of the machine
			{registry.Kept, "forever", 4},
			{32 * 24 * time.Hour, "forever", 3},
		} {
			time.Sleep(c.later)
			if got := ids(list(t, r)); got != c.inboxes {
				t.Errorf("after %v: %s", c.later, got)
			}
			if err := r.Put(forever); err != nil { // which prunes
				t.Fatal(err)
			}
			if left := files(t, dir); len(left) != c.files {
				t.Errorf("after %v: %d files, %v", c.later, len(left), left)
			}
		}
	})
}

// Files that are damaged count as none, and are replaced.
func TestDamagedFilesBesideAnInbox(t *testing.T) {
	dir := t.TempDir()
	r := registry.Open(dir, "default", base)
	for _, content := range []string{"", "{", "null", `{"id":"b"}`, "\x00\xff", `{"id":"a","read":7,"for":7}`, strings.Repeat("x", 1<<20)} {
		must(t, r.SaveSeen("a", nil))
		handOver(t, r, "a", "1")
		for _, path := range files(t, dir) {
			must(t, os.WriteFile(path, []byte(content), 0o600))
		}
		if s, err := r.SeenReader().Read(); err != nil || len(s) != 0 {
			t.Errorf("%.20q is read as %+v, %v", content, s, err)
		}
		must(t, r.SaveSeen("a", nil))
		if seen(t, r).InboxID != "a" || !handOver(t, r, "a", "1") || handOver(t, r, "a", "1") {
			t.Errorf("%.20q is not replaced", content)
		}
	}
	if known := list(t, r); len(known) != 0 {
		t.Errorf("the inboxes are %+v", known)
	}
}

func TestWhereNothingCanBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(dir, nil, 0o600))
	r := registry.Open(dir, "default", base)
	if err := r.SaveSeen("a", nil); err == nil || !strings.Contains(err.Error(), "could not record on this machine what was read") {
		t.Errorf("saved: %v", err)
	}
	err := r.UpdateConsumed(t.Context(), "a", func(*watch.Consumed) bool { t.Error("it is delivered"); return true }, nil)
	if err == nil || !strings.Contains(err.Error(), "record what was returned") {
		t.Error(err)
	}
}
