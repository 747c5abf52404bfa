//go:build unix

package e2e

import (
	"archive/tar"
	"bufio"
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
	fails(ada, 5, "returned before", "wait "+address+" --code --timeout 2s")
	// What was printed is kept with the key, and other sessions know it.
	another := s.dialSSH(users[0])
	fails(another, 5, "returned before", "wait "+address+" --code --timeout 2s")
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
	kept := ok(`.*«code».*`, "", "snap signup "+address+" --update") + "\n"
	ok(regexp.QuoteMeta(strings.TrimSpace(kept)), "", "snap signup "+address)
	ok("", kept, "snap signup "+address)
	if out, said, status := over(t, ada, strings.Replace(kept, "«code»", "soon", 1), "snap signup "+address); status != 1 || !strings.Contains(out, "+ «code»") || !strings.Contains(said, "--update") {
		t.Errorf("another snapshot: status %d, %q, %q", status, out, said)
	}
	// All sessions share their memory: nobody fills it with a message that the service refuses.
	if _, said, status := over(t, ada, strings.Repeat("0123456789abcdef\n", 26<<20/17+1), "sendmail "+address); status != 1 || !strings.Contains(said, "reading the message: it is larger than 26214400 bytes") {
		t.Errorf("a message that is too large: status %d, %q", status, said)
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
	fails(another, 5, "returned before", "wait "+address+" --code --timeout 2s")
	// A public key that is removed takes nothing from another of the same API key.
	carl := m.sshUser("carl")
	m.mustRun("admin", "key", "ssh-key", "add", "ada", carl.pub, "--store", s.store)
	events, err := s.dialSSH(carl).NewSession()
	must(t, err)
	lines, err := events.StdoutPipe()
	must(t, errors.Join(err, events.Start("watch")))
	ok("", signup(address), "sendmail -t")
	_, err = bufio.NewReader(lines).ReadString('\n')
	must(t, err)
	m.mustRun("admin", "key", "ssh-key", "rm", ssh.FingerprintSHA256(carl.signer.PublicKey()), "--store", s.store)
	ok(`\d{6}`, "", "wait "+address+" --code --timeout 30s")
	fails(another, 5, "returned before", "wait "+address+" --code --timeout 2s")
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
	m.fails(3, "no public key", "admin", "key", "ssh-key", "rm", fingerprint, "--store", s.store)
	m.fails(2, "not a public key", "admin", "key", "ssh-key", "add", "ada", m.write("no.pub", "hello\n"), "--store", s.store)
	m.fails(2, "private key", "admin", "key", "ssh-key", "add", "ada", users[1].private, "--store", s.store)
	if out, said, status := m.run("admin", "key", "create", "--plan", "dev", "--ssh-key", users[0].pub, "--store", s.store); status != 1 || !strings.HasPrefix(out, "mf_") || !strings.Contains(said, "already stands for") {
		t.Errorf("a key with another's public key: %d, %q, %q", status, out, said)
	}
}

// openSSH is a run of OpenSSH's client.
func (m *machine) openSSH(s *server, u sshUser, flags, args string) *exec.Cmd {
	host, port, _ := strings.Cut(s.ssh, ":")
	given := []string{"-F", "none", "-i", u.private, "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=" + filepath.Join(m.home, "known"), "-p", port}
	given = append(append(given, strings.Fields(flags)...), "anyone@"+host)
	cmd := exec.Command("ssh", append(given, strings.Fields(args)...)...)
	cmd.Env = append(m.environ, "TERM=xterm-256color")
	return cmd
}

// OpenSSH's client opens the application, and types keys into it; ctrl+c at a command is 130; a service that stops says so.
func TestOpenSSH(t *testing.T) {
	t.Parallel()
	need(t, "openssh-client", "ssh")
	m := newMachine(t)
	s, users, _ := m.sshService("startup", "ada")
	command := func(flags, args string) *exec.Cmd { return m.openSSH(s, users[0], flags, args) }
	out, err := command("", "new --username ada").Output()
	must(t, err)
	address := strings.TrimSpace(string(out))
	send(t, s.smtp, address, signup(address))

	screen := startInTerminal(t, command("", ""))
	screen.waitFor("Inboxes", address)
	screen.step("?", "Keys for")
	screen.typeKeys("\x1b")
	screen.waitUntil("no dialog", func(text string) bool { return !strings.Contains(text, "Keys for") })
	screen.step("e", "Not over SSH")
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

// What OpenSSH's client can ask for beside a session is refused, and takes no session with it.
func TestOpenSSHAsksForMore(t *testing.T) {
	t.Parallel()
	need(t, "openssh-client", "ssh", "ssh-agent")
	m := newMachine(t)
	s, users, _ := m.sshService("startup", "ada")
	many := ""
	for n := range 12 {
		many += " -i " + m.sshUser(fmt.Sprint("wrong", n)).private
	}
	stranger := m.sshUser("stranger")
	for _, test := range []struct {
		name, flags, args string
		user              sshUser
		status            int
		said              string
	}{
		{"a wrong key", "", "ls", stranger, 255, "no API key has your public key SHA256:"},
		{"a dozen wrong keys", many, "ls", stranger, 255, "(?i)permission denied|too many|disconnect"},
		{"a port of the service", "-o ExitOnForwardFailure=yes -R 0:127.0.0.1:1", "ls", users[0], 255, "remote port forwarding failed"},
		{"a connection from the service", "-W 127.0.0.1:22", "", users[0], 255, "nothing is forwarded"},
		{"sftp", "-s", "sftp", users[0], 255, "subsystem request failed"},
		{"an agent", "-A", "new", users[0], 0, ""},
		{"X11", "-X", "new", users[0], 0, ""},
		{"variables", "-o SetEnv=MAYFLY_API_KEY=x -o SetEnv=LD_PRELOAD=/tmp/x -o SetEnv=HOME=/tmp", "new", users[0], 0, ""},
		{"a tunnel", "-o Tunnel=yes -o ExitOnForwardFailure=yes -w any", "new", users[0], 255, ""},
		{"passwords", "-o PubkeyAuthentication=no", "new", users[0], 255, "Permission denied"},
	} {
		var said bytes.Buffer
		cmd := m.openSSH(s, test.user, test.flags, test.args)
		cmd.Stderr = &said
		_ = cmd.Run()
		if status := cmd.ProcessState.ExitCode(); status != test.status || !regexp.MustCompile(test.said).Match(said.Bytes()) {
			t.Errorf("%s: status %d, %q; want %d, %q", test.name, status, said.String(), test.status, test.said)
		}
	}
}

// A client that stops, floods or is killed is nobody else's trouble, and the process of the sessions takes clients with it, who are told.
func TestOpenSSHIsKilled(t *testing.T) {
	t.Parallel()
	need(t, "openssh-client", "ssh")
	need(t, "procps", "ps")
	m := newMachine(t)
	s, users, _ := m.sshService("startup", "ada")
	ada := s.dialSSH(users[0])
	address, _, _ := over(t, ada, "", "new")
	open := func() (*exec.Cmd, *terminal) {
		cmd := m.openSSH(s, users[0], "", "")
		screen := startInTerminal(t, cmd)
		screen.waitFor("Inboxes", address)
		return cmd, screen
	}
	stopped, _ := open()
	must(t, stopped.Process.Signal(syscall.SIGSTOP))
	flood, err := ada.NewSession()
	must(t, err)
	_, err = flood.StdinPipe() // stays open: the session would end
	must(t, err)
	must(t, flood.RequestPty("xterm", 24, 80, nil))
	must(t, flood.Shell())
	for n := range 2000 {
		must(t, flood.WindowChange(20+n%80, 80+n%200))
	}
	if out, said, status := over(t, ada, "", "ls"); status != 0 || !strings.Contains(out, address) {
		t.Errorf("beside them: %d, %q, %q", status, out, said)
	}
	must(t, stopped.Process.Kill())
	_, screen := open()
	must(t, syscall.Kill(sessionsOf(t, s.cmd.Process.Pid), syscall.SIGKILL))
	if status := screen.exitStatus(); status != 255 || !regexp.MustCompile("closed by remote host|Connection reset|Broken pipe").MatchString(screen.output()) {
		t.Errorf("ssh ends with %d:\n%s", status, screen.text())
	}
}

// To a key, nothing of another key exists: by each command over SSH and each path of the API, however it is named.
func TestKeysAreApart(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s, users, keys := m.sshService("enterprise", "ada", "grace")
	ada, grace := s.dialSSH(users[0]), s.dialSSH(users[1])
	address, _, _ := over(t, grace, "", "new --username hers")
	send(t, s.smtp, address, signup(address))
	code, _, _ := over(t, grace, "", "wait "+address+" --code --timeout 30s")
	list, _, _ := over(t, grace, "", "ls --json")
	inbox := regexp.MustCompile(`inbox_\w+`).FindString(list)
	messages, _, _ := over(t, grace, "", "messages --json "+address)
	message := regexp.MustCompile(`msg_\w+`).FindString(messages)
	hers := regexp.MustCompile(code + `|msg_|inbox_|SHA256|Confirm your`)
	checks := 0
	refused := func(what string, ok bool, said string) {
		t.Helper()
		if checks++; !ok || hers.MatchString(strings.NewReplacer(inbox, "", inbox[:12], "", message, "").Replace(said)) {
			t.Errorf("%s: %q", what, said)
		}
	}
	named := []string{address, strings.ToUpper(address), inbox, inbox[:12], "hers", "hers+tag@mail.test"}
	for _, name := range named {
		for _, command := range []string{"messages %s", "messages --json %s", "read %s", "read --json %s", "read --view raw %s", "read %s " + message, "wait %s --timeout 1ms", "wait %s --code --timeout 1ms",
			"wait %s --link --again --timeout 1ms", "wait %s --none --timeout 1ms --settle 1ms --since 1h", "save - %s", "save - %s " + message, "extend %s --ttl 1h", "rm --yes %s", "rm --yes --messages %s", "release --to a@b.test %s"} {
			command = fmt.Sprintf(command, name)
			out, said, status := over(t, ada, "", command)
			refused(command, status != 0 || strings.Contains(command, "--none"), out+said)
		}
	}
	for _, command := range []string{"ls", "ls --json", "sessions", "sessions --json", "watch --json nobody", "new --username hers", "rm --all --yes", "read", "messages"} {
		out, said, _ := over(t, ada, "", command)
		refused(command, true, out+said)
	}
	stranger := newClient(t, s.rest, keys[0])
	for _, id := range []string{inbox, strings.ToUpper(inbox), inbox[:12], address} {
		for _, below := range []string{"", "/messages", "/messages/" + message, "/messages/" + message + "/delivery", "/messages/" + message + "/release", "/messages/" + message + "/attachments/1", "/state"} {
			for _, method := range []string{"GET", "HEAD", "PUT", "POST", "PATCH", "DELETE"} {
				body := ""
				switch method {
				case "PUT":
					body = `{"before":null,"after":"e30="}`
				case "PATCH":
					body = `{"ttl":60}`
				case "POST":
					body = `{"to":["a@b.test"]}`
				}
				a := stranger.request(method, "/v1/inboxes/"+id+below, body)
				refused(method+" "+id+below, a.status == 404 || a.status == 405 || a.status == 501, a.body)
			}
		}
	}
	for _, path := range []string{"/v1/inboxes", "/v1/inboxes?address=" + address, "/v1/sessions", "/v1/states"} {
		a := stranger.request("GET", path, "")
		refused(path, a.status > 0, a.body)
	}
	if after, _, _ := over(t, grace, "", "ls --json"); after != list || checks < 200 {
		t.Errorf("after %d checks the other key has %s instead of %s", checks, after, list)
	}
	_, said, status := over(t, grace, "", "wait "+address+" --code --timeout 100ms")
	if status != 5 || !strings.Contains(said, "returned before") {
		t.Errorf("what was returned is %d, %q", status, said)
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
