package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// awaitReady waits until a store says why it cannot be written, or with "" that it can. At first,
// connections may be about to end.
func awaitReady(t *testing.T, s *Store, want string) {
	t.Helper()
	await(t, "ready: "+want, func() bool {
		err := s.Ready(t.Context())
		e, _ := errors.AsType[*service.Error](err)
		return err == nil && want == "" || e != nil && e.Message == want
	})
}

func TestReady(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t, "fsync=off")
	s := open(t, c.URL(), Options{NoSlotsAhead: true})
	awaitReady(t, s, "")
	awaitReady(t, s, "")
	for setting, want := range map[string]string{
		"default_transaction_read_only = on": "PostgreSQL cannot write: it is a standby, or read-only",
		"temp_file_limit = 0":                "PostgreSQL cannot write: the service's log has the reason", // which rows may escape, as on a full disk
	} {
		administer(t, c.URL(), "ALTER SYSTEM SET "+setting, "SELECT pg_reload_conf()")
		awaitReady(t, s, want)
		administer(t, c.URL(), "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")
		awaitReady(t, s, "")
	}
	c.Stop(pgtest.Fast)
	awaitReady(t, s, "PostgreSQL does not answer")
	c.Start()
	awaitReady(t, s, "")
}

// What anyone may read has no names of tables or files.
func TestWhyNotReady(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		stateDiskFull:  "PostgreSQL cannot write: no space left",
		"57P03":        "PostgreSQL is starting or stopping",
		statePrivilege: "PostgreSQL cannot write: its user has no permission to",
		stateLocked:    "PostgreSQL cannot write: the service's log has the reason",
	} {
		err := notWritable("PostgreSQL", unavailable(&pgconn.PgError{Code: state, Message: "base/5/16384"}))
		if e, ok := errors.AsType[*service.Error](err); !ok || e.Message != want {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestReadyOnCitus(t *testing.T) {
	t.Parallel()
	c := pgtest.StartCitus(t, "fsync=off")
	s := open(t, c.Nodes[0].URL(), Options{NoSlotsAhead: true})
	awaitReady(t, s, "")
	awaitReady(t, s, "")
	if n := count(t, s, "SELECT count(*) FROM owners"); n != 2 {
		t.Errorf("tests of two workers have left %d rows", n)
	}
	c.Nodes[2].Stop(pgtest.Kill)
	awaitReady(t, s, fmt.Sprintf("worker %s does not answer", c.Nodes[2].Addr()))
	c.Nodes[2].Start()
	awaitReady(t, s, "")
	c.Nodes[0].Stop(pgtest.Kill) // mail goes on without the coordinator
	awaitReady(t, s, "")
}

// A server that refuses the connection, whatever it says, is one that cannot be reached: with a full disk it is an internal error.
func TestRefusedConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url, Options{})
	server, name := url[:strings.LastIndex(url, "/")+1]+"postgres", ask[string](t, url, "SELECT current_database()")
	administer(t, server, "DROP DATABASE "+name+" WITH (FORCE)")
	for range 2 * defaultConnections { // some find that their connection has ended
		if err := fortest.Failure(s.Inbox(t.Context(), "key_a", "inbox_1")); service.ErrorCode(err) != service.Unavailable {
			t.Fatal(err)
		}
	}
}
