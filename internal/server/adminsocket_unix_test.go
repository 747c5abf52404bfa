//go:build unix

package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/internal/server"
)

const nobody = 65534

// A socket that another user may have made gets no request, and the store behind it is not opened instead.
func TestSocketOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	for name, change := range map[string]func(store string) error{
		"store is writable by other users": func(store string) error { return os.Chmod(store, 0o770) },
		"admin is writable by other users": func(store string) error { return os.Chmod(filepath.Join(store, "admin"), 0o703) },
		"the user nobody":                  func(store string) error { return os.Chown(filepath.Join(store, "admin"), nobody, nobody) },
		"to the user nobody":               func(store string) error { return os.Chown(filepath.Join(store, "admin", "sock"), nobody, nobody) },
	} {
		c := config(t)
		start(t, c)
		must(t, change(c.Store))
		if a, err := server.OpenAdmin(t.Context(), c.Store, nil); !errors.Is(err, server.ErrOtherUser) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
}

func TestADataFolderOfOthers(t *testing.T) {
	t.Parallel()
	c := config(t)
	must(t, os.Mkdir(c.Store, 0o700))
	for mode, refused := range map[os.FileMode]bool{0o777: true, 0o775: true, 0o755: false, 0o700: false} {
		must(t, os.Chmod(c.Store, mode))
		s, err := server.Start(t.Context(), c)
		if err == nil {
			err = s.Shutdown(t.Context())
		}
		if want := c.Store + " is writable by other users: run `chmod go-w " + c.Store + "`"; refused != (err != nil && err.Error() == want) {
			t.Errorf("%o: %v", mode, err)
		}
	}
}
