package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	line := ""
	for n := range 30_000 {
		line = fmt.Sprintf("%099d\n", n)
		if _, err := log.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || len(text) > maxLog || !strings.HasSuffix(string(text), line) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
