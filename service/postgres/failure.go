package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/internal/sockets"
	"mayfly/service"
)

// retryAfter is what clients are told while the database is unavailable: about as long as a
// failover takes.
const retryAfter = 5 * time.Second

// Some SQLSTATEs of PostgreSQL (appendix A of its manual).
const (
	stateSerialization = "40001"
	stateDeadlock      = "40P01"
	stateIdleInTx      = "25P03"
	stateReadOnly      = "25006"
	stateLocked        = "55P03"
	stateDiskFull      = "53100"
	stateQueryCanceled = "57014"
	statePrivilege     = "42501"
	stateNoSchema      = "3F000"
	stateNoTable       = "42P01"
	stateTableExists   = "42P07"
	stateInternal      = "XX000"
	stateProtocol      = "08P01"
)

func sqlState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// conflict reports whether a transaction failed because of a concurrent one, and can be repeated.
func conflict(err error) bool {
	state := sqlState(err)
	return state == stateSerialization || state == stateDeadlock
}

// explain turns an error of opening a database into one line that says what to do.
func explain(err error) error {
	switch sqlState(err) {
	case statePrivilege:
		return fmt.Errorf("%w: make this user the owner of the database", err)
	case stateProtocol: // PgBouncer says so of a startup parameter
		return fmt.Errorf("%w: %w", err, errPooler)
	case stateNoSchema:
		return fmt.Errorf("%w: its search_path names no schema that exists", err)
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		line, _, _ := strings.Cut(answer.Message, "\n")
		return errors.New(line)
	}
	connect, ok := errors.AsType[*pgconn.ConnectError](err)
	if !ok {
		return err
	}
	var dns *net.DNSError
	switch {
	case sockets.IsError(err, syscall.ECONNREFUSED):
		return errors.New("connection refused; is PostgreSQL running there?")
	case errors.As(err, &dns):
		return errors.New("the host " + dns.Name + " was not found")
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return errors.New("it does not answer")
	}
	// There is a line for each address, with TLS and without.
	return errors.New(strings.Join(slices.Compact(strings.Split(connect.Unwrap().Error(), "\n")), "; "))
}

// away reports whether a database could not be opened because its server does not run, is not reached,
// or has no resources now: not because of what it answered about the user or the database.
func away(err error) bool {
	if state := sqlState(err); state != "" {
		return state != stateProtocol && (state[:2] == "08" || state[:2] == "53" || strings.HasPrefix(state, "57P"))
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok || pgconn.Timeout(err) || errors.Is(err, io.ErrUnexpectedEOF)
}

func unavailable(cause error) error {
	return &service.Error{Code: service.Unavailable, Message: "The store cannot be reached", RetryAfter: retryAfter, Err: cause}
}

// failure turns an error of a server of the database into one of the domain. If the caller's ctx was
// cancelled, that is the error.
func (s *Store) failure(ctx context.Context, pool *pgxpool.Pool, err error) error {
	var domain *service.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &domain):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return service.ErrNotFound
	case s.ctx.Err() != nil:
		return service.ErrClosed
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	}
	state := sqlState(err)
	if state == stateReadOnly || state == "" && ctx.Err() == nil || strings.HasPrefix(state, "57P") {
		// The server may have changed. A primary that has become a standby, for example, keeps its
		// connections.
		pool.Reset()
		s.servers.clear()
	}
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	switch {
	case state == stateDiskFull:
		return &service.Error{Code: service.Full, Message: "No space left in the store", Err: err}
	case connecting, state == "", state == stateReadOnly, state == stateIdleInTx, state == stateLocked, state == stateQueryCanceled, conflict(err):
		return unavailable(err) // no response, or none in time
	case s.citus && state == stateInternal:
		return unavailable(err) // such as of a server that ends, or of a shard that is being moved
	case state[:2] == "08", state[:2] == "53", state[:2] == "57", state[:2] == "58":
		return unavailable(err) // connection, resources, operator, system
	}
	return &service.Error{Code: service.Internal, Message: "The store failed", Err: err}
}
