//go:build unix

package e2e

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// sshUser is somebody with a key pair.
type sshUser struct {
	signer       ssh.Signer
	private, pub string // files
}

func (m *machine) sshUser(name string) sshUser {
	m.t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must(m.t, err)
	signer, err := ssh.NewSignerFromKey(key)
	must(m.t, err)
	block, err := ssh.MarshalPrivateKey(key, name)
	must(m.t, err)
	private := m.write(name, string(pem.EncodeToMemory(block)))
	must(m.t, os.Chmod(private, 0o600))
	return sshUser{signer, private, m.write(name+".pub", strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))+" "+name+"\n")}
}

// sshService starts a service with users who have an API key each.
func (m *machine) sshService(plan string, names ...string) (s *server, users []sshUser, keys []string) {
	m.t.Helper()
	s = m.serve(filepath.Join(m.home, "store"), "--ssh", "127.0.0.1:0")
	for _, name := range names {
		u := m.sshUser(name)
		users = append(users, u)
		keys = append(keys, m.mustRun("admin", "key", "create", "--plan", plan, "--name", name, "--ssh-key", u.pub, "--store", s.store))
	}
	return s, users, keys
}

func (s *server) dialSSH(u sshUser) *ssh.Client {
	s.t.Helper()
	c, err := ssh.Dial("tcp", s.ssh, &ssh.ClientConfig{User: "x", Auth: []ssh.AuthMethod{ssh.PublicKeys(u.signer)}, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	must(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// over runs a command over SSH, and returns its output, what it says beside, and its status.
func over(t testing.TB, c *ssh.Client, stdin, command string) (stdout, stderr string, status int) {
	t.Helper()
	session, err := c.NewSession()
	must(t, err)
	defer session.Close()
	var out, said bytes.Buffer
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader(stdin), &out, &said
	err = session.Run(command)
	if exit := (*ssh.ExitError)(nil); errors.As(err, &exit) {
		status = exit.ExitStatus()
	} else {
		must(t, err)
	}
	return strings.TrimSuffix(out.String(), "\n"), said.String(), status
}

// Every command does over SSH what it does elsewhere, with its status; what needs the machine is not there.
func TestCommandsOverSSH(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s, users, keys := m.sshService("startup", "ada", "grace")
	ada, grace := s.dialSSH(users[0]), s.dialSSH(users[1])
	ok := func(want, stdin, command string) string {
		t.Helper()
		out, said, status := over(t, ada, stdin, command)
		if status != 0 || !regexp.MustCompile(`(?s)^`+want+`$`).MatchString(out) {
			t.Errorf("%s: status %d, %q, %q; want %s", command, status, out, said, want)
		}
		return out
	}
	fails := func(c *ssh.Client, status int, part, command string) {
		t.Helper()
		out, said, got := over(t, c, "", command)
		if got != status || out != "" || !strings.Contains(said, part) || strings.Contains(said, "mayfly ") && !strings.HasPrefix(said, "mayfly: ") {
			t.Errorf("%s: status %d, %q, %q; want %d, %q", command, got, out, said, status, part)
		}
	}
	address := ok(`[a-z0-9-]+@mail\.test`, "", "new")
	ok("", signup(address), "sendmail -t")
	code := ok(`\d{6}`, "", "wait "+address+" --code --timeout 30s")
	ok(`https://\S+`, "", "wait "+address+" --link --timeout 30s")
	fails(ada, 5, "returned before", "wait "+address+" --code --timeout 100ms")
	// What was printed is kept with the key, and other sessions know it.
	another := s.dialSSH(users[0])
	fails(another, 5, "returned before", "wait "+address+" --code --timeout 100ms")
	ok(code, "", "wait "+address+" --code --again")
	ok(regexp.QuoteMeta(address)+`\t1\t.*`, "", "ls")
	ok(`msg_.*`, "", "messages "+address)
	ok(`.*`+code+`.*`, "", "read "+address)
	ok(`Received: .*|From: .*`, "", "read "+address+" --view raw")
	ok(`\{"message":.*`, "", "read --json")
	ok(`20.*Z`, "", "extend "+address+" --ttl 2h")
	ok(`.*`, "", "sessions")
	ok(`.*ssh HOST.*`, "", "help")
	ok(`.*ssh HOST wait.*`, "", "wait --help")
	archive := tar.NewReader(strings.NewReader(ok(`.*`, "", "save - "+address)))
	for _, want := range []string{"message.eml", "01-"} {
		if h, err := archive.Next(); err != nil || !strings.HasPrefix(h.Name, want) {
			t.Errorf("the archive has %v, %v; want %s", h, err, want)
		}
	}
	fails(ada, 2, "ssh HOST save - | tar x", "save "+address)
	fails(ada, 1, "no relay", "release --to x@y.test "+address)
	fails(ada, 2, "ssh -t", "")
	fails(ada, 2, "not closed", "read 'x")
	fails(ada, 2, "unknown flag --copyy", "new --copyy")
	fails(ada, 3, "ssh HOST ls", "messages nobody@mail.test")
	for _, absent := range []string{"serve", "admin key list", "exec -- id", "key status", "up", "down", "doctor", "mcp", "preview /etc/passwd", "completion bash", "man", "health",
		"ssh-sessions {}", "local-service", "__complete new", "--base-url http://127.0.0.1 ls", "--profile x ls", "--insecure ls", "--debug", "-v", "read --screenshot x.png", "save --dir /tmp"} {
		fails(ada, 2, "unknown", absent)
	}
	// What was printed over the API counts over SSH, and the other way round.
	m.using(s, keys[0]).fails(5, "returned before", "wait", address, "--code", "--timeout", "100ms")
	ok("", signup(address), "sendmail -t")
	m.using(s, keys[0]).mustRun("wait", address, "--code", "--timeout", "30s")
	fails(another, 5, "returned before", "wait "+address+" --code --timeout 100ms")
	// To another key nothing of it exists.
	fails(grace, 3, "there is no inbox", "read "+address)
	fails(grace, 3, "there is no inbox", "messages "+address)
	fails(grace, 3, "", "rm --yes "+address)
	fails(grace, 5, "", "wait "+address+" --timeout 100ms")
	ok("", "", "rm --yes "+address)
	// What a session makes is the key's.
	if got := m.using(s, keys[0]).mustRun("ls"); got != "" {
		t.Errorf("the key has %q", got)
	}
	// A key that is removed ends what runs within ten seconds, and opens nothing.
	watching := make(chan string, 1)
	go func() {
		_, said, status := over(t, grace, "", "watch")
		watching <- fmt.Sprint(status, " ", said)
	}()
	prints := m.mustRun("admin", "key", "ssh-key", "list", "--store", s.store)
	fingerprint := regexp.MustCompile(`(?m)^(SHA256:\S+)\s.*grace$`).FindStringSubmatch(prints)[1]
	m.mustRun("admin", "key", "ssh-key", "rm", fingerprint, "--store", s.store)
	select {
	case said := <-watching:
		if !strings.HasPrefix(said, "4 ") && !strings.Contains(said, "no longer stands") {
			t.Errorf("the session of a removed key: %q", said)
		}
	case <-time.After(conditionTimeout):
		t.Error("a session outlives its key")
	}
	m.fails(3, "there is no public key", "admin", "key", "ssh-key", "rm", fingerprint, "--store", s.store)
	m.fails(2, "not a public key", "admin", "key", "ssh-key", "add", "ada", m.write("no.pub", "hello\n"), "--store", s.store)
	m.fails(2, "private key", "admin", "key", "ssh-key", "add", "ada", users[1].private, "--store", s.store)
	if out, said, status := m.run("admin", "key", "create", "--plan", "dev", "--ssh-key", users[0].pub, "--store", s.store); status != 1 || !strings.HasPrefix(out, "mf_") || !strings.Contains(said, "already stands for") {
		t.Errorf("a key with another's public key: %d, %q, %q", status, out, said)
	}
}

// OpenSSH's client opens the application, and types keys into it; ctrl+c at a command is 130; a service that stops says so.
func TestOpenSSH(t *testing.T) {
	t.Parallel()
	need(t, "openssh-client", "ssh")
	m := newMachine(t)
	s, users, _ := m.sshService("startup", "ada")
	host, port, _ := strings.Cut(s.ssh, ":")
	command := func(flags, args string) *exec.Cmd {
		given := []string{"-F", "none", "-i", users[0].private, "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=" + filepath.Join(m.home, "known"), "-o", "LogLevel=ERROR", "-p", port}
		given = append(append(given, strings.Fields(flags)...), "anyone@"+host)
		cmd := exec.Command("ssh", append(given, strings.Fields(args)...)...)
		cmd.Env = append(m.environ, "TERM=xterm-256color")
		return cmd
	}
	out, err := command("", "new --username ada").Output()
	must(t, err)
	address := strings.TrimSpace(string(out))
	send(t, s.smtp, address, signup(address))

	screen := startInTerminal(t, command("", ""))
	screen.waitFor("Inboxes", address)
	screen.typeKeys("?")
	screen.waitFor("Keys for")
	screen.typeKeys("\x1b")
	screen.waitUntil("no dialog", func(text string) bool { return !strings.Contains(text, "Keys for") })
	screen.typeKeys("e")
	screen.waitFor("Not over SSH")
	screen.typeKeys("q")
	if status := screen.exitStatus(); status != 0 {
		t.Errorf("q ends ssh with %d", status)
	}

	screen = startInTerminal(t, command("-tt", "wait "+address+" --from nobody --timeout 1h"))
	screen.waitFor("waiting for")
	screen.typeKeys("\x03")
	if status := screen.exitStatus(); status != 130 {
		t.Errorf("ctrl+c ends ssh with %d:\n%s", status, screen.text())
	}

	screen = startInTerminal(t, command("", ""))
	screen.waitFor("Inboxes", address)
	s.stop(syscall.SIGTERM)
	screen.exitStatus()
	if !strings.Contains(screen.output(), "the service is stopping") {
		t.Errorf("a service that stopped said nothing:\n%s", screen.text())
	}
}

// The process of the sessions is killed again and again while mail comes: none is lost or refused, and sessions can be opened again.
func TestSessionsEndWithoutMail(t *testing.T) {
	t.Parallel()
	need(t, "procps", "ps")
	m := newMachine(t)
	s, users, _ := m.sshService("enterprise", "ada")
	address, _, _ := over(t, s.dialSSH(users[0]), "", "new")
	var sent atomic.Int64
	var senders sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		senders.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				send(t, s.smtp, address, signup(address))
				sent.Add(1)
			}
		})
	}
	for range 3 {
		child := sessionsOf(t, s.cmd.Process.Pid)
		must(t, syscall.Kill(child, syscall.SIGKILL))
		deadline := time.Now().Add(conditionTimeout)
		for {
			c, err := ssh.Dial("tcp", s.ssh, &ssh.ClientConfig{User: "x", Auth: []ssh.AuthMethod{ssh.PublicKeys(users[0].signer)}, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
			if err == nil {
				_, _, status := over(t, c, "", "ls")
				if _ = c.Close(); status == 0 {
					break
				}
			}
			if time.Now().After(deadline) {
				t.Fatalf("no session after the process was killed: %v", err)
			}
		}
	}
	close(stop)
	senders.Wait()
	out, _, _ := over(t, s.dialSSH(users[0]), "", "messages "+address)
	if got := strings.Count(out, "\n") + 1; int64(got) != sent.Load() {
		t.Errorf("%d messages of %d", got, sent.Load())
	}
}

// sessionsOf returns the process of a service that serves its sessions.
func sessionsOf(t *testing.T, service int) int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	must(t, err)
	for line := range strings.Lines(string(out)) {
		var pid, parent int
		if _, err := fmt.Sscan(line, &pid, &parent); err == nil && parent == service && strings.Contains(line, "ssh-sessions") {
			return pid
		}
	}
	t.Fatal("the service has no process for sessions")
	return 0
}
