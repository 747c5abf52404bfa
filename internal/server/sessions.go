package server

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/pires/go-proxyproto"
	gossh "golang.org/x/crypto/ssh"

	"mayfly/service/ssh"
)

// Session is a session over SSH.
type (
	Session         = ssh.Session
	SessionTerminal = ssh.Terminal
)

// The files that the process of the sessions inherits.
const (
	serviceFile  = 3 // the socket of its service
	listenerFile = 4
)

const (
	defaultSessionMemory = 1 << 30
	memoryInterval       = time.Second
	freeTime             = 5 * time.Second // for a session to end, and the garbage collector
)

// ServeSessions serves SSH in a process that a [Server] has started, until that server or ctx ends. Run is as in the package ssh;
// its last argument makes requests of the API, as the API key of the session.
func ServeSessions(ctx context.Context, settings string, log func(debug bool) *slog.Logger, run func(context.Context, SessionSettings, *Session, http.RoundTripper) int) error {
	var set SessionSettings
	if err := json.Unmarshal([]byte(settings), &set); err != nil {
		return errors.New("it is started by `mayfly serve --ssh`")
	}
	socket, err := net.FileConn(os.NewFile(serviceFile, "service"))
	if err != nil {
		return err
	}
	listener, err := net.FileListener(os.NewFile(listenerFile, "listener"))
	if err != nil {
		return err
	}
	balancers, err := parseNetworks(set.Balancers)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	logger := log(set.Debug)
	up := newParent(socket, cancel)
	hostKey, err := gossh.NewSignerFromSigner(remoteKey{up, ed25519.PublicKey(set.HostKey)})
	if err != nil {
		return err
	}
	server := ssh.New(ssh.Options{
		HostKey: hostKey, Gate: up, Limits: set.SSHLimits.Limits, Log: logger,
		Run: func(ctx context.Context, s *Session) int { return run(ctx, set, s, caller{up, s}) },
	})
	memory := cmp.Or(set.Memory, defaultSessionMemory)
	debug.SetMemoryLimit(memory / 4 * 3)
	limitMemory(memory)
	context.AfterFunc(ctx, func() {
		stopping, stop := context.WithTimeout(context.WithoutCancel(ctx), failureTimeout)
		defer stop()
		_ = server.Shutdown(stopping) // what was cut off has been told
	})
	go watchMemory(ctx, memory, server.EndLargest)
	return server.Serve(proxyProtocolListener(listener, balancers, proxyproto.REQUIRE, logger))
}

// watchMemory ends the largest session when this process uses too much memory, until ctx ends.
func watchMemory(ctx context.Context, most int64, endLargest func()) {
	used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for look := time.Duration(memoryInterval); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(look):
		}
		look = memoryInterval
		if metrics.Read(used); used[0].Value.Uint64()-used[1].Value.Uint64() > uint64(most) {
			endLargest()
			look = freeTime
		}
	}
}

// parent is the service that has started this process.
type parent struct{ client *http.Client }

func newParent(socket net.Conn, gone func()) *parent {
	t := &http.Transport{Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{StrictMaxConcurrentRequests: true}}
	t.Protocols.SetUnencryptedHTTP2(true)
	var once sync.Once
	t.DialContext = func(context.Context, string, string) (net.Conn, error) {
		err := io.EOF
		once.Do(func() { err = nil })
		return lifeline{socket, gone}, err
	}
	return &parent{&http.Client{Transport: t}}
}

// lifeline is the socket of the service, without which nothing can be done.
type lifeline struct {
	net.Conn
	gone func()
}

func (l lifeline) Close() error { l.gone(); return l.Conn.Close() }

// Authenticate implements ssh.Gate.
func (p *parent) Authenticate(ctx context.Context, fingerprint, remote string) (string, error) {
	var a authentication
	err := ask(ctx, p.client, "http://service/authenticate", authentication{Fingerprint: fingerprint, Remote: remote}, &a)
	return a.KeyID, err
}

// Wrong implements ssh.Gate.
func (p *parent) Wrong(remote string) {
	ctx, cancel := context.WithTimeout(context.Background(), failureTimeout)
	defer cancel()
	_ = ask(ctx, p.client, "http://service/authenticate", authentication{Remote: remote}, new(authentication)) // the service is gone, and this process soon
}

// remoteKey is the host key, with which the service signs.
type remoteKey struct {
	*parent
	public ed25519.PublicKey
}

func (k remoteKey) Public() crypto.PublicKey { return k.public }

// Sign implements crypto.Signer.
func (k remoteKey) Sign(_ io.Reader, message []byte, _ crypto.SignerOpts) (signature []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), failureTimeout)
	defer cancel()
	err = ask(ctx, k.client, "http://service/sign", message, &signature)
	return signature, err
}

// caller is the service for a session.
type caller struct {
	*parent
	*Session
}

// RoundTrip implements http.RoundTripper.
func (c caller) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", "service"
	r.Header.Set(fingerprintHeader, c.Fingerprint)
	r.Header.Set(clientHeader, c.Remote)
	return c.client.Transport.RoundTrip(r)
}
