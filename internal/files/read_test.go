package files

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"mayfly/internal/fortest"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	fortest.Must(t, Write(path, []byte("1234")))
	if content, info, err := Read(path, 4); err != nil || string(content) != "1234" || info.Size() != 4 {
		t.Errorf("%q, %v, %v", content, info, err)
	}
	if _, _, err := Read(filepath.Join(dir, "none"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	unfit := map[string]int64{path: 3, dir: 10}
	if _, err := os.Stat("/dev/zero"); err == nil {
		unfit["/dev/zero"] = 10
	}
	if pipe := filepath.Join(dir, "pipe"); makePipe(pipe) == nil {
		unfit[pipe] = 10
	}
	for path, most := range unfit {
		var u Unfit
		if _, _, err := Read(path, most); !errors.As(err, &u) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := ReadNamed("/dev/zero", 10); err == nil {
		t.Error("a device without an end is read to it")
	}
	if content, err := ReadAll(bytes.NewReader([]byte("1234")), 4); err != nil || len(content) != 4 {
		t.Errorf("%q, %v", content, err)
	}
}
