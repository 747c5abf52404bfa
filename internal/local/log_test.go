package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestTheLogIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "local.log")
	log, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	const lines = 30_000 // of 100 bytes
	for n := range lines {
		if _, err := fmt.Fprintf(log, "%099d\n", n); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if len(text) > maxLog || len(text) < maxLog/3 {
		t.Errorf("it has %d bytes", len(text))
	}
	for n, line := range all {
		if want := fmt.Sprintf("%099d", lines-len(all)+n); string(line) != want {
			t.Fatalf("line %d is %q, want %q", n, line, want)
		}
	}
}
