package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"mayfly/service"
)

// Ready implements service.Store. Each server that has keys writes and commits; the coordinator of a
// Citus cluster need not, since mail goes on without it.
func (s *Store) Ready(ctx context.Context) error {
	if !s.citus {
		return s.testWriting(ctx, s.anyServer, "PostgreSQL", "ready")
	}
	tests, err := s.testsOfServers(ctx)
	if err != nil {
		return notWritable("PostgreSQL", s.failure(ctx, s.pool, err))
	}
	var testing errgroup.Group // which returns the first error
	for n, name := range tests {
		testing.Go(func() error {
			v, err := s.serverAt(n)
			if err != nil {
				return err
			}
			return s.testWriting(ctx, v, "worker "+net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port))), name)
		})
	}
	return testing.Wait()
}

// testsOfServers returns for each server that has keys a name whose rows are there.
func (s *Store) testsOfServers(ctx context.Context) (map[node]string, error) {
	if tests, ok := s.tests.get(""); ok {
		return tests, nil
	}
	names := make([]string, 500) // several for each shard, of which there are 32 by default
	for i := range names {
		names[i] = fmt.Sprintf("ready-%03d", i)
	}
	all, err := s.readPlacements(ctx, s.pool, names)
	if err != nil {
		return nil, err
	}
	tests := map[node]string{}
	for _, p := range all {
		if tests[p.node] == "" || p.name < tests[p.node] { // the same in all processes
			tests[p.node] = p.name
		}
	}
	s.tests.put("", tests)
	return tests, nil
}

// testWriting has a server change a row, and write a file of half a megabyte: while its disk is full,
// rows may find space that others left.
func (s *Store) testWriting(ctx context.Context, v *server, who, name string) error {
	if err := v.room(); err != nil {
		return err
	}
	err := s.changeOn(ctx, v.pool, func(b *pgx.Batch) {
		b.Queue("SET LOCAL work_mem = '64kB'")
		b.Queue("SELECT count(*) FROM (SELECT repeat(n::text, 1000) FROM generate_series(100, 300) n ORDER BY 1) more_than_memory")
		b.Queue("INSERT INTO owners (key_id, inboxes, day, emails, emails_before) VALUES ($1, 0, 0, 0, 0) ON CONFLICT (key_id, generation) DO UPDATE SET inboxes = 0", name)
	}, nil)
	return notWritable(who, err)
}

// notWritable says why a server cannot write in words for anyone.
func notWritable(who string, err error) error {
	if err == nil || errors.Is(err, service.ErrClosed) {
		return err
	}
	why := "cannot write"
	switch state := sqlState(err); {
	case state == stateDiskFull:
		why += ": no space left"
	case state == stateReadOnly:
		why += ": it is a standby, or read-only"
	case state == "":
		why = "does not answer"
	case strings.HasPrefix(state, "57P"):
		why = "is starting or stopping"
	case state == statePrivilege:
		why += ": its user has no permission to"
	case state == stateNoSchema, state == stateNoTable:
		why += ": tables are missing"
	default:
		why += ": the service's log has the reason"
	}
	return &service.Error{Code: service.Unavailable, Message: who + " " + why, RetryAfter: retryAfter, Err: err}
}
