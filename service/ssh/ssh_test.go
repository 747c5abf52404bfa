package ssh

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"

	"mayfly/internal/fortest"
	"mayfly/service"
)

// gate knows public keys by their fingerprints.
type gate struct {
	mu    sync.Mutex
	keys  map[string]string
	wrong chan string
}

func (g *gate) Authenticate(_ context.Context, fingerprint, _ string) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if id, ok := g.keys[fingerprint]; ok {
		return id, nil
	}
	return "", service.Errorf(service.Unauthorized, "Invalid API key")
}

func (g *gate) Wrong(remote string) { g.wrong <- remote }

func (g *gate) set(fingerprint, keyID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keys[fingerprint] = keyID; keyID == "" {
		delete(g.keys, fingerprint)
	}
}

// buffered is an end of a pipe to which can be written while nobody reads: both sides of SSH speak first.
type buffered struct {
	net.Conn
	out    chan []byte
	closed chan struct{}
	once   sync.Once
}

func pipe() (a, b net.Conn) {
	x, y := net.Pipe()
	return buffer(x), buffer(y)
}

func buffer(c net.Conn) net.Conn {
	b := &buffered{Conn: c, out: make(chan []byte, 1024), closed: make(chan struct{})}
	go func() {
		for {
			select {
			case text := <-b.out:
				_, _ = c.Write(text)
			case <-b.closed:
				for len(b.out) > 0 {
					_, _ = c.Write(<-b.out)
				}
				_ = c.Close()
				return
			}
		}
	}()
	return b
}

func (b *buffered) Write(text []byte) (int, error) {
	select {
	case <-b.closed:
		return 0, net.ErrClosed
	case b.out <- slices.Clone(text):
		return len(text), nil
	}
}

func (b *buffered) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

func newSigner(t *testing.T) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	s, err := ssh.NewSignerFromKey(key)
	must(t, err)
	return s
}

var must = fortest.Must

// fixture is a server and who may use it.
type fixture struct {
	*Server
	*gate
	listener *fortest.Pipes
	t        *testing.T
}

// start starts a server on which sessions do what run does.
func start(t *testing.T, o Options, run func(ctx context.Context, s *Session) int) *fixture {
	f := &fixture{gate: &gate{keys: map[string]string{}, wrong: make(chan string, 16)}, listener: fortest.NewPipes(), t: t}
	o.HostKey, o.Gate, o.Run, o.Log = newSigner(t), f.gate, run, slog.New(slog.DiscardHandler)
	f.Server = New(o)
	served := make(chan error, 1)
	go func() { served <- f.Serve(f.listener) }()
	t.Cleanup(func() {
		_ = f.listener.Close()
		_ = f.Shutdown(context.Background())
		<-served
	})
	return f
}

// dial connects with keys, and returns what the server said before.
func (f *fixture) dial(auth ...ssh.AuthMethod) (client *ssh.Client, banner string, err error) {
	f.t.Helper()
	ours, theirs := pipe()
	f.listener.Connect(theirs)
	config := &ssh.ClientConfig{User: "anyone", Auth: auth, HostKeyCallback: ssh.FixedHostKey(f.options.HostKey.PublicKey()),
		BannerCallback: func(text string) error { banner += text; return nil }}
	conn, channels, requests, err := ssh.NewClientConn(ours, "pipe", config)
	if err != nil {
		_ = ours.Close()
		return nil, banner, err
	}
	client = ssh.NewClient(conn, channels, requests)
	f.t.Cleanup(func() { _ = client.Close() })
	return client, banner, nil
}

// user returns a connection of somebody whose key stands for an API key.
func (f *fixture) user(keyID string) (*ssh.Client, ssh.Signer) {
	f.t.Helper()
	signer := newSigner(f.t)
	f.set(ssh.FingerprintSHA256(signer.PublicKey()), keyID)
	client, _, err := f.dial(ssh.PublicKeys(signer))
	must(f.t, err)
	return client, signer
}

func run(t *testing.T, c *ssh.Client, command string, prepare ...func(*ssh.Session)) (string, int) {
	t.Helper()
	s, err := c.NewSession()
	must(t, err)
	defer s.Close()
	for _, p := range prepare {
		p(s)
	}
	out, err := s.CombinedOutput(command)
	if exit := (*ssh.ExitError)(nil); errors.As(err, &exit) {
		return string(out), exit.ExitStatus()
	} else if missing := (*ssh.ExitMissingError)(nil); errors.As(err, &missing) {
		return string(out), -1
	}
	must(t, err)
	return string(out), 0
}

func TestWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                            nil,
		"  wait  a@b --code ":         {"wait", "a@b", "--code"},
		`wait --subject 'two  words'`: {"wait", "--subject", "two  words"},
		`a "b c"d\ e '' "" "\"\$\x"`:  {"a", "b cd e", "", "", `"$\x`},
		`'it'\''s' "a'b"`:             {"it's", "a'b"},
		"a\\\nb c\nd":                 {"ab", "c", "d"},
		`$HOME $(id) * ; | > ~`:       {"$HOME", "$(id)", "*", ";", "|", ">", "~"},
		"\x00 ü":                      {"\x00", "ü"},
		`end\`:                        {`end\`},
	} {
		if got, err := Words(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v; want %q", line, got, err, want)
		}
	}
	for _, line := range []string{`a "b`, `a 'b`, `"\"`} {
		if got, err := Words(line); err == nil {
			t.Errorf("%q: got %q and no error", line, got)
		}
	}
}

// echo prints what a session is.
func echo(_ context.Context, s *Session) int {
	fmt.Fprintf(s.Stdout, "%s %q %q", s.KeyID, s.Args, s.Environ)
	if s.Terminal != nil {
		fmt.Fprintf(s.Stdout, " %v", s.Terminal.Size())
	}
	in, _ := io.ReadAll(s.Stdin)
	fmt.Fprintf(s.Stdout, "%s\n", in)
	return len(s.Args)
}

// Of what a client can ask for, it gets sessions.
func TestOnlySessions(t *testing.T) {
	t.Parallel()
	f := start(t, Options{}, echo)
	c, _ := f.user("key_a")
	out, status := run(t, c, "wait 'a b'", func(s *ssh.Session) {
		for _, name := range []string{"LANG", "TZ", "NO_COLOR", "COLORTERM"} {
			must(t, s.Setenv(name, name+"!"))
		}
		for name, value := range map[string]string{"LANG": "twice", "PATH": "/", "LD_PRELOAD": "x", "MAYFLY_API_KEY": "x", "MAYFLY_BASE_URL": "x", "TERM": "x", "HOME": "/", "SSH_TTY": "x"} {
			if s.Setenv(name, value) == nil {
				t.Errorf("%s was accepted", name)
			}
		}
		for _, request := range []string{"auth-agent-req@openssh.com", "x11-req", "signal", "subsystem", "break", "pty-req", "nothing"} {
			if ok, err := s.SendRequest(request, true, ssh.Marshal(struct{ Name string }{"sftp"})); err != nil || ok {
				t.Errorf("%s: accepted %v, %v", request, ok, err)
			}
		}
	})
	if want := `key_a ["wait" "a b"] ["LANG=LANG!" "TZ=TZ!" "NO_COLOR=NO_COLOR!" "COLORTERM=COLORTERM!"]` + "\n"; out != want || status != 2 {
		t.Errorf("got %q with status %d, want %q", out, status, want)
	}
	if out, status := run(t, c, `wait "a`); status != 2 || !strings.Contains(out, "not closed") {
		t.Errorf("an open quotation mark: %q, %d", out, status)
	}
	for size, want := range map[[2]int]string{{120, 36}: "{120 36}", {0, 0}: "{80 24}", {1 << 30, 1 << 30}: "{1000 100}", {10, 1 << 30}: "{10 500}"} {
		if out, _ := run(t, c, "new", func(s *ssh.Session) { must(t, s.RequestPty("xterm", size[1], size[0], nil)) }); !strings.Contains(out, want+"\r\n") {
			t.Errorf("size %v: %q", size, out)
		}
	}
	for _, kind := range []string{"direct-tcpip", "direct-streamlocal@openssh.com", "forwarded-tcpip", "x11", "auth-agent@openssh.com", "tun@openssh.com"} {
		if ch, _, err := c.OpenChannel(kind, nil); err == nil {
			_ = ch.Close()
			t.Errorf("a channel %s was opened", kind)
		}
	}
	for _, request := range []string{"tcpip-forward", "streamlocal-forward@openssh.com", "hostkeys-prove-00@openssh.com"} {
		if ok, _, err := c.SendRequest(request, true, nil); err != nil || ok {
			t.Errorf("%s: accepted %v, %v", request, ok, err)
		}
	}
	if l, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close()
		t.Error("a port is forwarded")
	}
	var open []*ssh.Session
	for range maxChannels {
		s, err := c.NewSession()
		must(t, err)
		open = append(open, s)
	}
	if _, err := c.NewSession(); err == nil {
		t.Error("a connection has any number of sessions")
	}
	for _, s := range open {
		_ = s.Close()
	}
}

// theirs offers a public key whose private key it does not have.
type theirs struct{ ssh.Signer }

func (theirs) Sign(io.Reader, []byte) (*ssh.Signature, error) {
	return nil, errors.New("it is another's")
}

// Who comes in is who has proved to have a key, however many were offered; who does not is one guess.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	f := start(t, Options{}, echo)
	_, ada := f.user("key_ada")
	_, grace := f.user("key_grace")
	var unknown []ssh.Signer
	for range 5 {
		unknown = append(unknown, newSigner(t))
	}
	_, banner, err := f.dial(ssh.PublicKeys(unknown...))
	if err == nil {
		t.Error("unknown keys were accepted")
	}
	if <-f.wrong; len(f.wrong) != 0 {
		t.Error("five keys of a connection are more than one guess")
	}
	for _, s := range unknown {
		if !strings.Contains(banner, ssh.FingerprintSHA256(s.PublicKey())) || !strings.Contains(banner, "mayfly admin key ssh-key add") {
			t.Errorf("the banner does not say how to register: %q", banner)
		}
	}
	// A client that asks for ada's key first comes in as itself.
	asked := ssh.PublicKeysCallback(func() ([]ssh.Signer, error) { return []ssh.Signer{unknown[0], grace}, nil })
	c, banner, err := f.dial(asked)
	must(t, err)
	if out, _ := run(t, c, "new"); !strings.HasPrefix(out, "key_grace ") || banner == "" {
		t.Errorf("got %q, banner %q", out, banner)
	}
	if _, banner, err = f.dial(asked); err != nil || banner != "" {
		t.Errorf("a key that was offered beside the right one is named again: %q, %v", banner, err)
	}
	if c, _, err := f.dial(ssh.PublicKeys(theirs{ada}, grace)); err == nil {
		if out, _ := run(t, c, "new"); !strings.HasPrefix(out, "key_grace ") {
			t.Errorf("with another's public key: %q", out)
		}
	}
	cert := &ssh.Certificate{Key: ada.PublicKey(), CertType: ssh.UserCert, ValidPrincipals: []string{"ada"}, ValidBefore: ssh.CertTimeInfinity}
	must(t, cert.SignCert(rand.Reader, newSigner(t)))
	certified, err := ssh.NewCertSigner(cert, ada)
	must(t, err)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	must(t, err)
	weak, err := ssh.NewSignerFromKey(small)
	must(t, err)
	f.set(ssh.FingerprintSHA256(weak.PublicKey()), "key_weak")
	for what, auth := range map[string]ssh.AuthMethod{
		"a certificate": ssh.PublicKeys(certified), "an RSA key of 1024 bits": ssh.PublicKeys(weak), "a password": ssh.Password("mf_x"),
		"keyboard-interactive": ssh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) { return nil, nil }),
	} {
		if _, _, err := f.dial(auth); err == nil {
			t.Errorf("%s was accepted", what)
		}
	}
	line := string(ssh.MarshalAuthorizedKey(ada.PublicKey()))
	if print, comment, err := ParseKey([]byte(strings.TrimSpace(line) + " ada@laptop")); err != nil || comment != "ada@laptop" || print != ssh.FingerprintSHA256(ada.PublicKey()) {
		t.Errorf("%q, %q, %v", print, comment, err)
	}
	for _, wrong := range []string{"", "hello", "-----BEGIN OPENSSH PRIVATE KEY-----", `command="x" ` + line, line + line,
		string(ssh.MarshalAuthorizedKey(cert)), string(ssh.MarshalAuthorizedKey(weak.PublicKey()))} {
		if _, _, err := ParseKey([]byte(wrong)); err == nil {
			t.Errorf("accepted as a public key: %q", wrong)
		}
	}
}

// A panic ends its session. A key has so many sessions, and others are not kept out.
func TestSessionsAreApart(t *testing.T) {
	t.Parallel()
	running := make(chan struct{}, 8)
	f := start(t, Options{Limits: Limits{MaxSessions: 3, MaxSessionsPerKey: 2}}, func(ctx context.Context, s *Session) int {
		if slices.Equal(s.Args, []string{"panic"}) {
			panic("at the disco")
		}
		running <- struct{}{}
		<-ctx.Done()
		fmt.Fprintln(s.Stdout, context.Cause(ctx))
		return 1
	})
	a, _ := f.user("key_a")
	b, _ := f.user("key_b")
	outputs := make(chan string, 3)
	begin := func(c *ssh.Client) {
		go func() { out, _ := run(t, c, "wait"); outputs <- out }()
		<-running
	}
	begin(a)
	if out, status := run(t, a, "panic"); status != 1 || !strings.Contains(out, "log of the service") || strings.Contains(out, "disco") {
		t.Errorf("a panic: %q, %d", out, status)
	}
	begin(a)
	if out, status := run(t, a, "wait"); status != 6 || !strings.Contains(out, "too many sessions") {
		t.Errorf("a third session: %q, %d", out, status)
	}
	begin(b)
	go func() { _ = f.Shutdown(context.Background()) }()
	for range 3 {
		if out := <-outputs; !strings.Contains(out, errStopping.Error()) {
			t.Errorf("a session was told %q", out)
		}
	}
}

// What runs for a client ends with its channel, with its connection, when nobody is there, and soon after its key is removed.
func TestSessionsEnd(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(f *fixture, c *ssh.Client, s *ssh.Session, fingerprint string)
		why  error
		in   time.Duration // at most
	}{
		{"channel", func(_ *fixture, _ *ssh.Client, s *ssh.Session, _ string) { _ = s.Close() }, nil, time.Second},
		{"connection", func(_ *fixture, c *ssh.Client, _ *ssh.Session, _ string) { _ = c.Close() }, nil, time.Second},
		{"idle", func(*fixture, *ssh.Client, *ssh.Session, string) {}, errIdle, time.Hour},
		{"memory", func(f *fixture, _ *ssh.Client, _ *ssh.Session, _ string) { f.EndLargest() }, errMemory, time.Second},
		{"key removed", func(f *fixture, _ *ssh.Client, _ *ssh.Session, fingerprint string) { f.set(fingerprint, "") }, errRevoked, 10 * time.Second},
		{"key of another", func(f *fixture, _ *ssh.Client, _ *ssh.Session, fingerprint string) { f.set(fingerprint, "key_b") }, errRevoked, 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				why, running := make(chan error, 1), make(chan struct{})
				f := start(t, Options{Limits: Limits{IdleTimeout: time.Hour}}, func(ctx context.Context, s *Session) int {
					close(running)
					<-ctx.Done()
					why <- context.Cause(ctx)
					return 0
				})
				c, signer := f.user("key_a")
				s, err := c.NewSession()
				must(t, err)
				must(t, s.RequestPty("xterm", 24, 80, nil))
				must(t, s.Shell())
				<-running
				begun := time.Now()
				for range 10 { // a redraw is nobody's presence
					must(t, s.WindowChange(30, 100))
				}
				test.end(f, c, s, ssh.FingerprintSHA256(signer.PublicKey()))
				got := <-why
				if took := time.Since(begun); took > test.in || test.why != nil && got != test.why {
					t.Errorf("ended after %v: %v", took, got)
				}
			})
		})
	}
}
