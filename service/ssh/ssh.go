// Package ssh serves the application and the command line to those whose public key stands for an API key.
//
// A session is a terminal, or streams, and a list of arguments; [Options].Run decides what they mean. Nothing else of SSH is
// served: no passwords, no certificates, no shell, no forwarding of ports or of an agent, no subsystem such as sftp, and of the
// client's environment only what describes its terminal.
package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"mayfly/service"
	"mayfly/service/limits"
)

// Gate says who may come in. It is another process's.
type Gate interface {
	// Authenticate returns the ID of the API key that a public key stands for, to a client at an address (host:port). An error
	// of the code Unauthorized is final.
	Authenticate(ctx context.Context, fingerprint, remote string) (keyID string, err error)
	// Wrong counts a connection whose keys were all wrong as a guess.
	Wrong(remote string)
}

// Limits of a Server.
type Limits struct {
	MaxConnections, MaxConnectionsPerAddress int           // default 1024, 64
	MaxSessions, MaxSessionsPerKey           int           // default 256, 32
	IdleTimeout                              time.Duration // without a key pressed in a terminal, or a session; default 12 h
}

// Options of a Server.
type Options struct {
	HostKey ssh.Signer
	Gate    Gate

	Limits

	// Run serves a session until it ends or ctx does, and returns the exit status.
	Run func(ctx context.Context, s *Session) int

	Log *slog.Logger
}

const (
	handshakeTimeout = 20 * time.Second
	maxAuthTries     = 10 // an agent offers all of its keys
	maxChannels      = 10 // sessions that one connection has open at a time, as in OpenSSH
	recheckInterval  = 5 * time.Second
	drainTimeout     = 3 * time.Second // for sessions to give the terminal back
	maxCompanions    = 10_000
)

// Why the context of a session ends.
var (
	errStopping = errors.New("the service is stopping")
	errMemory   = errors.New("the memory for all sessions is used up, and this one has opened the largest message: connect again")
	errIdle     = errors.New("no key was pressed for too long")
	errRevoked  = errors.New("your public key no longer stands for an API key")
)

// Server serves SSH.
type Server struct {
	options  Options
	conns    *limits.Sessions
	sessions *limits.Count[string] // by the ID of the key
	running  sync.WaitGroup        // sessions
	stopping context.Context
	stop     context.CancelCauseFunc

	mu         sync.Mutex
	open       map[*connection]bool
	companions map[string]bool // fingerprints that were offered beside a right one
	live       map[*Session]context.CancelCauseFunc
}

// New returns a server.
func New(o Options) *Server {
	o.MaxConnections = cmp.Or(o.MaxConnections, 1024)
	o.MaxConnectionsPerAddress = cmp.Or(o.MaxConnectionsPerAddress, 64)
	o.MaxSessions = cmp.Or(o.MaxSessions, 256)
	o.MaxSessionsPerKey = cmp.Or(o.MaxSessionsPerKey, 32)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 12*time.Hour)
	s := &Server{options: o, sessions: limits.NewCount[string](o.MaxSessions, o.MaxSessionsPerKey), open: map[*connection]bool{}, companions: map[string]bool{}, live: map[*Session]context.CancelCauseFunc{}}
	s.stopping, s.stop = context.WithCancelCause(context.Background())
	s.conns = limits.NewSessions(limits.SessionOptions{Protocol: "SSH", Max: o.MaxConnections, MaxPerAddress: o.MaxConnectionsPerAddress, Log: o.Log})
	return s
}

// Serve serves the connections of a listener until Shutdown is called, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	go s.recheck()
	return s.conns.Serve(l, true, func(nc net.Conn, _ netip.Prefix) {
		defer s.conns.Leave(nc)
		defer nc.Close()
		s.serve(nc)
	})
}

// Shutdown ends all sessions, which are told, and closes the connections.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stop(errStopping)
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { s.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
	case <-time.After(drainTimeout):
	}
	s.mu.Lock()
	for c := range s.open {
		c.close()
	}
	s.mu.Unlock()
	return s.conns.Shutdown(ctx)
}

// EndLargest ends the session that has read the largest answer, and tells it why.
func (s *Server) EndLargest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var largest *Session
	for session := range s.live {
		if largest == nil || session.Largest.Load() > largest.Largest.Load() {
			largest = session
		}
	}
	if largest != nil {
		s.options.Log.Warn("a session was closed: the memory for all sessions is used up (--ssh-memory)", "key", largest.KeyID, "answer", largest.Largest.Load())
		s.live[largest](errMemory)
		delete(s.live, largest) // the next one is another
	}
}

// recheck closes the connections whose public key stands for no API key any more, until the server stops.
func (s *Server) recheck() {
	tick := time.NewTicker(recheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.stopping.Done():
			return
		case <-tick.C:
		}
		byKey := map[string][]*connection{}
		s.mu.Lock()
		for c := range s.open {
			byKey[c.fingerprint] = append(byKey[c.fingerprint], c)
		}
		s.mu.Unlock()
		for fingerprint, connections := range byKey {
			keyID, err := s.options.Gate.Authenticate(s.stopping, fingerprint, "")
			for _, c := range connections {
				if service.ErrorCode(err) == service.Unauthorized || err == nil && keyID != c.keyID {
					c.end(errRevoked)
					time.AfterFunc(drainTimeout, c.close)
				}
			}
		}
	}
}

// offered is how the keys of a connection that is being made were answered, in order.
type offered struct {
	wrong []string
	err   error // of the gate
}

// config is for one connection. A key is offered before its owner has proved to have it, and others may follow: whose
// connection it is says only what [ssh.ServerConn] has at the end.
func (s *Server) config(remote string, o *offered) *ssh.ServerConfig {
	config := &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-mayfly", MaxAuthTries: maxAuthTries,
		PublicKeyAuthAlgorithms: []string{ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256,
			ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512},
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if err := checkKey(key); err != nil {
				return nil, &ssh.BannerError{Err: err, Message: "mayfly: " + err.Error() + "\r\n"}
			}
			fingerprint := ssh.FingerprintSHA256(key)
			ctx, cancel := context.WithTimeout(s.stopping, handshakeTimeout)
			defer cancel()
			keyID, err := s.options.Gate.Authenticate(ctx, fingerprint, remote)
			switch {
			case err == nil:
				return &ssh.Permissions{Extensions: map[string]string{"key": keyID, "fingerprint": fingerprint}}, nil
			case service.ErrorCode(err) != service.Unauthorized:
				o.err = err
				return nil, &ssh.BannerError{Err: err, Message: "mayfly: " + err.Error() + "\r\n"}
			}
			o.wrong = append(o.wrong, fingerprint)
			s.mu.Lock()
			known := s.companions[fingerprint]
			s.mu.Unlock()
			if known {
				return nil, err
			}
			return nil, &ssh.BannerError{Err: err, Message: "mayfly: no API key has your public key " + fingerprint +
				"\r\n  the operator adds it with `mayfly admin key ssh-key add KEY FILE`\r\n"}
		},
	}
	config.AddHostKey(s.options.HostKey)
	return config
}

// serve serves a connection.
func (s *Server) serve(nc net.Conn) {
	remote := nc.RemoteAddr().String()
	_ = nc.SetDeadline(time.Now().Add(handshakeTimeout))
	var o offered
	conn, channels, requests, err := ssh.NewServerConn(nc, s.config(remote, &o))
	if err != nil {
		if auth := (*ssh.ServerAuthError)(nil); o.err == nil && (len(o.wrong) > 0 || errors.As(err, &auth)) {
			s.options.Gate.Wrong(remote) // one guess: a client offers all keys that it has
		}
		s.options.Log.Debug("no connection", "peer", remote, "error", err)
		return
	}
	_ = nc.SetDeadline(time.Time{})
	c := &connection{server: s, conn: conn, keyID: conn.Permissions.Extensions["key"], fingerprint: conn.Permissions.Extensions["fingerprint"]}
	c.ctx, c.end = context.WithCancelCause(s.stopping)
	defer c.end(nil)
	s.mu.Lock()
	s.open[c] = true
	for _, w := range o.wrong {
		if len(s.companions) < maxCompanions {
			s.companions[w] = true
		}
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
	}()
	go ssh.DiscardRequests(requests) // tcpip-forward and others are refused
	c.serve(channels)
}

// connection is one that is authenticated.
type connection struct {
	server             *Server
	conn               *ssh.ServerConn
	keyID, fingerprint string
	ctx                context.Context // ends with the connection
	end                context.CancelCauseFunc
}

func (c *connection) close() { _ = c.conn.Close() }

// serve serves the channels of a connection until it ends.
func (c *connection) serve(channels <-chan ssh.NewChannel) {
	count := make(chan struct{}, maxChannels)
	idle := time.AfterFunc(c.server.options.IdleTimeout, func() {
		if len(count) == 0 {
			c.close()
		}
	})
	defer idle.Stop()
	var open sync.WaitGroup
	defer open.Wait()
	defer c.end(nil)
	for nc := range channels {
		if nc.ChannelType() != "session" {
			_ = nc.Reject(ssh.UnknownChannelType, "only sessions are served: nothing is forwarded")
			continue
		}
		select {
		case count <- struct{}{}:
		default:
			_ = nc.Reject(ssh.ResourceShortage, fmt.Sprintf("a connection has at most %d sessions", maxChannels))
			continue
		}
		idle.Stop()
		ch, requests, err := nc.Accept()
		if err != nil {
			<-count
			continue
		}
		open.Go(func() {
			c.session(ch, requests)
			<-count
			idle.Reset(c.server.options.IdleTimeout)
		})
	}
}
