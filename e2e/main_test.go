//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	_ "mayfly/cli" // so that `go test` has compiled the program, and building it only links
	"mayfly/service/postgres/pgtest"
)

// program is the path of the one binary that all tests run: that of MAYFLY_BIN, else one built here.
var program = os.Getenv("MAYFLY_BIN")

func TestMain(m *testing.M) {
	if command := os.Getenv(appVariable); command != "" {
		os.Exit(runApp(command, os.Args[1:]))
	}
	heedSignals()
	os.Exit(buildAndRun(m))
}

// heedSignals makes the programs that the tests start heed signals that the tests themselves were started to ignore, as
// under nohup: what a process handles is not ignored by the processes it starts.
func heedSignals() {
	dropped := make(chan os.Signal, 1)
	signal.Notify(dropped, syscall.SIGTSTP) // that it is ignored cannot be asked for
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(dropped, sig)
		}
	}
}

func buildAndRun(m *testing.M) int {
	if program != "" {
		return pgtest.Run(m)
	}
	dir, err := os.MkdirTemp("", "mayfly-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // one test runs it as another user
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = filepath.Join(dir, "mayfly")
	build := exec.Command("go", append([]string{"build", "-o", program}, append(buildFlags, "mayfly")...)...)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	return pgtest.Run(m)
}

// long skips a test that puts a service under load or waits for its timeouts, unless the
// environment asks for it.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("MAYFLY_LONG") == "" {
		t.Skipf("takes long; to run it: MAYFLY_LONG=1 go test ./e2e -run %s", t.Name())
	}
}
