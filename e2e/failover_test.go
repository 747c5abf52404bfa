//go:build unix

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service/postgres/pgtest"
)

// replicated is two PostgreSQL servers, one a standby of the other, run by Patroni, behind an
// HAProxy that connects to the primary.
type replicated struct {
	t      *testing.T
	folder *pgtest.Dir
	nodes  []*node
	etcd   int // its port
	port   int // of HAProxy
}

// node is a server and the Patroni that runs it.
type node struct {
	name           string
	postgres, rest int // ports
	patroni        *exec.Cmd
}

// lease is how long a primary that died keeps its role.
const lease = 15 * time.Second

const etcdAddress = "http://127.0.0.1:%d"

// startReplicated starts them with settings such as "max_connections=50".
func startReplicated(t *testing.T, settings ...string) *replicated {
	t.Helper()
	programs := pgtest.Programs(t)
	need(t, "the packages patroni, etcd-server and haproxy", "patroni", "etcd", "haproxy")
	r := &replicated{t: t}
	r.folder = pgtest.NewDir(t, `for p in *.pid */data/postmaster.pid; do kill -KILL "$(head -n 1 "$p")"; done 2>/dev/null`)
	r.etcd, r.port = freePort(t), freePort(t)
	client, peer := fmt.Sprintf(etcdAddress, r.etcd), fmt.Sprintf(etcdAddress, freePort(t))
	r.run("etcd", "etcd", "--name", "etcd", "--data-dir", "etcd", "--unsafe-no-fsync",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "etcd="+peer)
	eventually(t, "etcd answers", func() bool { return status(r.etcd, "/health") == http.StatusOK })

	for _, name := range []string{"one", "two"} {
		n := &node{name: name, postgres: freePort(t), rest: freePort(t)}
		r.nodes = append(r.nodes, n)
		r.write(name+".yml", r.patroni(n, programs, settings))
	}
	r.start(r.nodes[0])
	r.waitForRole(r.nodes[0], "primary")
	r.start(r.nodes[1])
	r.waitForRole(r.nodes[1], "synchronous")
	r.write("haproxy.cfg", r.haproxy())
	r.run("haproxy", "haproxy", "-db", "-f", "haproxy.cfg")
	eventually(t, "HAProxy connects to the primary alone", func() bool {
		for range r.nodes { // it takes turns until it has checked them
			if !r.writable() {
				return false
			}
		}
		return true
	})
	return r
}

func (r *replicated) write(name, text string) {
	r.t.Helper()
	must(r.t, os.WriteFile(filepath.Join(r.folder.Path, name), []byte(text), 0o644))
}

// run runs a program until the end of the test.
func (r *replicated) run(name, program string, args ...string) *exec.Cmd {
	r.t.Helper()
	log, err := os.Create(filepath.Join(r.folder.Path, name+".log"))
	must(r.t, err)
	defer log.Close()
	cmd := r.folder.Command(context.Background(), program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	must(r.t, cmd.Start())
	r.write(name+".pid", strconv.Itoa(cmd.Process.Pid))
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have been killed before
		_ = cmd.Wait()
		if text, err := os.ReadFile(log.Name()); r.t.Failed() && err == nil {
			r.t.Logf("%s:\n%s", name, text[max(0, len(text)-4000):])
		}
	})
	return cmd
}

func (r *replicated) patroni(n *node, programs string, settings []string) string {
	text := fmt.Sprintf(`
scope: mayfly
name: %[1]s
restapi:
  listen: 127.0.0.1:%[2]d
  connect_address: 127.0.0.1:%[2]d
etcd3:
  hosts: 127.0.0.1:%[3]d
bootstrap:
  dcs:
    ttl: %[7]d
    loop_wait: 1
    retry_timeout: 5
    synchronous_mode: true
    postgresql: {use_pg_rewind: true}
  initdb: [{encoding: UTF8}, {locale: C}, {auth: trust}, no-sync]
  pg_hba:
  - host all all 127.0.0.1/32 trust
  - host replication all 127.0.0.1/32 trust
postgresql:
  listen: 127.0.0.1:%[4]d
  connect_address: 127.0.0.1:%[4]d
  data_dir: %[5]s/%[1]s/data
  pgpass: %[5]s/%[1]s.pgpass
  bin_dir: %[6]s
  basebackup: [checkpoint: fast]
  authentication:
    superuser: {username: postgres}
    replication: {username: replicator}
  parameters:
    unix_socket_directories: ''
`, n.name, n.rest, r.etcd, n.postgres, r.folder.Path, programs, int(lease.Seconds()))
	for _, setting := range settings {
		text += "    " + strings.Replace(setting, "=", ": ", 1) + "\n"
	}
	return text
}

func (r *replicated) haproxy() string {
	text := fmt.Sprintf(`
defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
listen primary
  bind 127.0.0.1:%d
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
`, r.port)
	for _, n := range r.nodes {
		text += fmt.Sprintf("  server %s 127.0.0.1:%d check port %d\n", n.name, n.postgres, n.rest)
	}
	return text
}

// status returns the status that a server of this machine answers with, and 0 if it does not
// answer.
func status(port int, path string) int {
	answer, err := httpClient.Get(fmt.Sprintf("http://127.0.0.1:%d%s", port, path))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// writable reports whether a new connection reaches a primary.
func (r *replicated) writable() bool {
	conn, err := pgx.Connect(r.t.Context(), r.url())
	if err != nil {
		return false
	}
	defer conn.Close(r.t.Context())
	var standby bool
	return conn.QueryRow(r.t.Context(), "SELECT pg_is_in_recovery()").Scan(&standby) == nil && !standby
}

func (r *replicated) url() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", r.port)
}

// primary returns the node that is the primary.
func (r *replicated) primary() *node {
	r.t.Helper()
	for _, n := range r.nodes {
		if status(n.rest, "/primary") == http.StatusOK {
			return n
		}
	}
	r.t.Fatal("there is no primary")
	return nil
}

// switchPrimary has the two change roles, as before maintenance, and returns the former primary.
func (r *replicated) switchPrimary() *node {
	r.t.Helper()
	n := r.primary()
	answer, err := httpClient.Post(fmt.Sprintf("http://127.0.0.1:%d/switchover", n.rest), "application/json", strings.NewReader(`{"leader":"`+n.name+`"}`))
	must(r.t, err)
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		r.t.Fatalf("switching the primary: %d %s, %v", answer.StatusCode, text, err)
	}
	return n
}

// killPrimary kills the primary and its Patroni, as if its machine failed, and returns it.
func (r *replicated) killPrimary() *node {
	r.t.Helper()
	n := r.primary()
	text, err := os.ReadFile(filepath.Join(r.folder.Path, n.name, "data", "postmaster.pid"))
	must(r.t, err)
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	must(r.t, err)
	must(r.t, n.patroni.Process.Kill())
	must(r.t, syscall.Kill(pid, syscall.SIGKILL))
	return n
}

// start has Patroni run a server.
func (r *replicated) start(n *node) {
	r.t.Helper()
	n.patroni = r.run(n.name, "patroni", n.name+".yml")
}

// waitForRole waits until a server has a role: primary or synchronous.
func (r *replicated) waitForRole(n *node, role string) {
	r.t.Helper()
	eventually(r.t, n.name+" is "+role, func() bool { return status(n.rest, "/"+role) == http.StatusOK })
}

func TestFailoverUnderLoad(t *testing.T) {
	long(t)
	t.Parallel()
	r := startReplicated(t, "max_connections=100")
	p := serveTwice(t, r.url())
	l := startLoad(t, []string{p.user.createInbox("a"), p.user.createInbox("b")}, p.one.smtp, p.other.smtp)
	l.waitForMails(500)
	l.longestPause()

	switched := r.switchPrimary()
	l.waitForMails(500)
	t.Logf("the primary was switched: no mail was taken for %v", l.longestPause().Round(100*time.Millisecond))
	r.waitForRole(switched, "synchronous")

	failed := r.killPrimary()
	l.waitForRefusal("452 4.3.2")
	users := []*client{p.user, p.user.at(p.other.rest)}
	for _, u := range users {
		u.waitUntilUnavailable()
	}
	l.waitForMails(500)
	t.Logf("the primary was killed: no mail was taken for %v; a lease is %v", l.longestPause().Round(100*time.Millisecond), lease)
	for _, u := range users {
		eventually(t, "it is ready again", func() bool { return ready(u) })
	}

	// The failed machine is back: it catches up and can be the primary again.
	begun := time.Now()
	r.start(failed)
	r.waitForRole(failed, "synchronous")
	t.Logf("the failed primary followed the other %v after its start", time.Since(begun).Round(100*time.Millisecond))
	l.waitForMails(100)
	l.longestPause()
	r.switchPrimary()
	l.waitForMails(500)
	t.Logf("and was the primary again: no mail was taken for %v", l.longestPause().Round(100*time.Millisecond))
	l.checkSlowestAnswer(answerBound)
	l.checkNothingIsLost(p.user)
}
