package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"mayfly/service"
)

// sizeParameter is the parameter of the URL that bounds the size of the database on each server. What is left of its disk
// is for deletions, for vacuum and for PostgreSQL's log: without room, it does not even start.
const sizeParameter = "max_size"

const sizeInterval = 5 * time.Second // between two looks at the size

// cutSize returns a URL without the bound that it may have, and the bound in bytes, or 0.
func cutSize(from string) (to string, size int64, err error) {
	u, err := url.Parse(from)
	if err != nil || !u.Query().Has(sizeParameter) {
		return from, 0, nil // what is wrong with it is found when it is parsed for good
	}
	q := u.Query()
	bytes, err := humanize.ParseBytes(q.Get(sizeParameter))
	if err != nil || bytes < 100<<20 || int64(bytes) < 0 {
		return from, 0, errors.New("the URL of the database: want " + sizeParameter + " to be a size from 100MB, such as 50GB")
	}
	q.Del(sizeParameter)
	u.RawQuery = q.Encode()
	return u.String(), int64(bytes), nil
}

// room returns Full while the database on a server has its largest size. Only mail asks for it.
func (v *server) room() error {
	if v.full.Load() {
		return &service.Error{Code: service.Full, Message: "PostgreSQL has no room left for mail: its database has reached " + sizeParameter}
	}
	return nil
}

// runSizes watches the size of the database on each server.
func (s *Store) runSizes() {
	for {
		s.readSizes()
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(sizeInterval):
		}
	}
}

func (s *Store) readSizes() {
	var reading errgroup.Group
	for _, v := range s.all() {
		if s.citus && v == s.anyServer {
			continue // each is known by itself
		}
		reading.Go(func() error { return s.readSize(v) })
	}
	_ = reading.Wait() // a server that does not answer takes no mail
}

func (s *Store) readSize(v *server) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	var size int64
	if err := v.pool.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&size); err != nil {
		return err
	}
	full := size >= s.maxSize
	if v.full.Swap(full) == full {
		return nil
	}
	c := v.pool.Config().ConnConfig
	if at := fmt.Sprintf("%s:%d", c.Host, c.Port); full {
		s.log.Warn("mail is refused, since the database has reached its largest size", "server", at, "size", humanize.Bytes(uint64(size)), sizeParameter, humanize.Bytes(uint64(s.maxSize)))
	} else {
		s.log.Info("mail is accepted again", "server", at, "size", humanize.Bytes(uint64(size)))
	}
	return nil
}
