//go:build unix

package e2e

import (
	"context"
	"net"
	"net/http"
	"net/smtp"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service/postgres/pgtest"
)

// proxy is a network between the service and the database that can be cut: connections then stay
// open and carry nothing.
type proxy struct {
	listener net.Listener
	to       string
	wait     sync.WaitGroup

	mu    sync.Mutex
	open  chan struct{} // closed while data passes
	see   func([]byte)  // is called with what is sent to the database, before it is; nil: nobody
	conns []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	n := &proxy{listener: l, to: to, open: make(chan struct{})}
	close(n.open)
	n.wait.Go(n.accept)
	t.Cleanup(func() {
		n.restore()
		_ = l.Close()
		n.mu.Lock()
		for _, c := range n.conns {
			_ = c.Close()
		}
		n.mu.Unlock()
		n.wait.Wait()
	})
	return n
}

func (n *proxy) accept() {
	for {
		near, err := n.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", n.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		n.mu.Lock()
		n.conns = append(n.conns, near, far)
		n.mu.Unlock()
		n.wait.Go(func() { n.pass(near, far, true) })
		n.wait.Go(func() { n.pass(far, near, false) })
	}
}

// pass passes data on while the network is open. The end of a connection passes as data does.
func (n *proxy) pass(from, to net.Conn, there bool) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		got, err := from.Read(buffer)
		n.mu.Lock()
		open, see := n.open, n.see
		n.mu.Unlock()
		<-open
		if err != nil {
			return
		}
		if there && see != nil {
			see(buffer[:got])
		}
		if _, err := to.Write(buffer[:got]); err != nil {
			return
		}
	}
}

// watch has see called with what is sent to the database, before it gets there.
func (n *proxy) watch(see func([]byte)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.see = see
}

func (n *proxy) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open = make(chan struct{})
}

func (n *proxy) restore() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.open:
	default:
		close(n.open)
	}
}

// Whatever keeps the database from answering, every request and every delivery is answered.
func TestUnresponsiveDatabase(t *testing.T) {
	long(t)
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"cut off":          databaseCutOff,
		"a row":            databaseLocked("SELECT FROM counts WHERE inbox_id = (SELECT id FROM inboxes WHERE address = 'locked@mail.test') FOR UPDATE", true),
		"a table":          databaseLocked("LOCK TABLE owners IN ACCESS EXCLUSIVE MODE", false),
		"counted requests": requestCountLocked,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

func databaseCutOff(t *testing.T) {
	c := pgtest.Start(t)
	n := newProxy(t, c.Addr())
	m := newMachine(t)
	behind := m.serve(strings.Replace(c.URL(), c.Addr(), n.listener.Addr().String(), 1))
	beside := m.serve(c.URL())
	u := newClient(t, behind.rest, m.key(c.URL(), "enterprise"))
	to := []string{u.createInbox("a"), u.createInbox("b")}
	l := startLoad(t, to, behind.smtp)
	l.waitForMails(200)

	n.cut()
	// The other process goes on. What the first has locked is its own as soon as the database
	// releases the lock.
	started := time.Now()
	send(t, beside.smtp, to[0], "Subject: beside\n\nx\n")
	t.Logf("another process takes mail for the same key %v after the cut", time.Since(started).Round(time.Millisecond))
	var asking sync.WaitGroup
	for range 10 {
		asking.Go(func() {
			if a := u.request(http.MethodGet, "/v1/inboxes", ""); a.status != http.StatusServiceUnavailable || a.retryAfter == "" || a.took > answerBound {
				t.Errorf("cut off from the database: %d, Retry-After %q, after %v, %s", a.status, a.retryAfter, a.took, a.body)
			}
		})
		asking.Go(func() {
			if a := u.request(http.MethodGet, "/readyz", ""); a.status != http.StatusServiceUnavailable || a.took > answerBound {
				t.Errorf("/readyz says %d after %v", a.status, a.took)
			}
		})
	}
	asking.Wait()
	l.waitForRefusal("452 4.3.2")
	u.at(beside.rest).wants(http.StatusOK, http.MethodGet, "/v1/inboxes", "")

	n.restore()
	mended := time.Now()
	eventually(t, "it is ready again", func() bool { return ready(u) })
	l.waitForMails(200)
	t.Logf("200 messages were taken within %v after the network was back", time.Since(mended).Round(time.Millisecond))
	l.checkSlowestAnswer(answerBound)
	l.checkNothingIsLost(u)
}

// begin runs a statement in a transaction that stays open until end is called or the test ends.
func begin(t *testing.T, database, sql string) (end func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	must(t, err)
	tx, err := conn.Begin(t.Context())
	must(t, err)
	must(t, failure(tx.Exec(t.Context(), sql)))
	end = sync.OnceFunc(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return end
}

// databaseLocked has a foreign session hold a lock that deliveries need: they are answered in
// bounded time, the rest goes on.
func databaseLocked(lock string, othersGoOn bool) func(*testing.T) {
	return func(t *testing.T) {
		database := pgtest.Database(t)
		p := serveTwice(t, database)
		address := p.user.createInbox("locked")
		send(t, p.one.smtp, address, signup(address))
		another := newClient(t, p.other.rest, p.m.key(database, "enterprise"))
		free := another.createInbox("free")

		unlock := begin(t, database, lock)
		var asking sync.WaitGroup
		for range 20 {
			asking.Go(func() {
				started := time.Now()
				err := smtp.SendMail(p.one.smtp, nil, "a@acme.example", []string{address}, []byte("Subject: x\r\n\r\nx\r\n"))
				if took := time.Since(started); refusal(err) != "452 4.3.2" || took > answerBound {
					t.Errorf("mail to a locked inbox ends with %v after %v", err, took)
				}
			})
		}
		// Reading takes no such lock.
		for _, u := range []*client{p.user, p.user.at(p.other.rest)} {
			if a := u.request(http.MethodGet, "/v1/inboxes/"+u.inboxes[address]+"/messages", ""); a.status != http.StatusOK || a.took > answerBound/3 {
				t.Errorf("reading: %d after %v, %s", a.status, a.took, a.body)
			}
		}
		if othersGoOn {
			send(t, p.other.smtp, free, signup(free))
		}
		asking.Wait()
		unlock()
		send(t, p.one.smtp, address, signup(address))
	}
}

// requestCountLocked checks that requests of one key, which are counted one by one, do not wait one
// by one.
func requestCountLocked(t *testing.T) {
	database := pgtest.Database(t)
	p := serveTwice(t, database)
	path := "/v1/inboxes/" + p.user.inboxes[p.user.createInbox("counted")]
	unlock := begin(t, database, "LOCK TABLE requests IN ACCESS EXCLUSIVE MODE")
	there := p.user.at(p.other.rest) // it has counted nothing yet
	var asking sync.WaitGroup
	for range 50 {
		asking.Go(func() {
			if a := there.request(http.MethodGet, path, ""); a.status != http.StatusServiceUnavailable || a.retryAfter == "" || a.took > answerBound {
				t.Errorf("%d, Retry-After %q, after %v, %s", a.status, a.retryAfter, a.took, a.body)
			}
		})
	}
	asking.Wait()
	unlock()
	there.wants(http.StatusOK, http.MethodGet, path, "")
}

// At boot, a database may come up after the service, which waits for it, unless waiting cannot help.
func TestServeWaitsForItsDatabase(t *testing.T) {
	long(t)
	t.Parallel()
	c := pgtest.Start(t, "fsync=off")
	m := newMachine(t)
	m.fails(1, `database "nowhere" does not exist`, "serve", "--http", "127.0.0.1:0", "--smtp", "127.0.0.1:0", "--store", strings.Replace(c.URL(), "/postgres?", "/nowhere?", 1))
	c.Stop(pgtest.Fast)
	for _, up := range []bool{false, true} {
		log, err := os.CreateTemp(m.home, "log")
		must(t, err)
		defer log.Close()
		cmd := m.command("serve", "--http", "127.0.0.1:0", "--smtp", "127.0.0.1:0", "--store", c.URL())
		cmd.Stderr = log
		must(t, cmd.Start())
		said := func(what string) {
			eventually(t, what, func() bool {
				text, err := os.ReadFile(log.Name())
				must(t, err)
				return strings.Contains(string(text), what)
			})
		}
		said("waiting for PostgreSQL")
		if up {
			c.Start()
			said("mayfly serves")
		}
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		if err := cmd.Wait(); err != nil {
			t.Errorf("with the database %v: %v", up, err)
		}
	}
}
