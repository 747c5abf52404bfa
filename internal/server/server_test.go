package server_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/fortest"
	"mayfly/internal/registry"
	"mayfly/internal/server"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// config returns the configuration of a server on free ports of the loopback interface.
func config(t *testing.T) server.Config {
	return server.Config{HTTP: "127.0.0.1:0", SMTP: "127.0.0.1:0", Store: filepath.Join(t.TempDir(), "store"), Domains: []string{"one.test"}}
}

func start(t *testing.T, c server.Config) *server.Server {
	t.Helper()
	s, err := server.Start(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { must(t, s.Shutdown(context.Background())) })
	return s
}

func newInbox(t *testing.T, s *server.Server) (service.Key, service.Inbox) {
	t.Helper()
	_, k, err := s.Service().CreateKey(t.Context(), "", service.Enterprise)
	must(t, err)
	in, err := s.Service().CreateInbox(t.Context(), k, service.NewInbox{})
	must(t, err)
	return k, in
}

func send(addr, to, subject string) error {
	return smtp.SendMail(addr, nil, "from@sender.example", []string{to}, []byte("Subject: "+subject+"\r\n\r\nhello\r\n"))
}

func client(t *testing.T, s *server.Server, key string) *api.Client {
	t.Helper()
	c, err := api.New("http://"+s.HTTPAddr(), key, api.Options{})
	must(t, err)
	return c
}

func newClient(t *testing.T, s *server.Server) *api.Client {
	t.Helper()
	secret, _, err := s.Service().CreateKey(t.Context(), "", service.Enterprise)
	must(t, err)
	return client(t, s, secret)
}

func smtpCode(err error) int {
	if e, ok := err.(*textproto.Error); ok {
		return e.Code
	}
	if err != nil {
		return 0
	}
	return 250
}

func TestAcceptedMailSurvivesAStop(t *testing.T) {
	t.Parallel()
	c := config(t)
	s := start(t, c)
	k, in := newInbox(t, s)

	// Idle connections do not delay the shutdown.
	for _, addr := range []string{s.HTTPAddr(), s.SMTPAddr()} {
		idle, err := net.Dial("tcp", addr)
		must(t, err)
		defer idle.Close()
	}

	// Mail is sent until sending fails because the server stops.
	accepted := make(chan int)
	sending := make(chan struct{})
	go func() {
		n := 0
		for send(s.SMTPAddr(), in.Address, "kept") == nil {
			if n++; n == 20 {
				close(sending)
			}
		}
		accepted <- n
	}()
	<-sending
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	must(t, s.Shutdown(ctx))
	<-s.Done()
	if err := s.Err(); err != nil {
		t.Errorf("stopped because of %v", err)
	}
	n := <-accepted

	again := start(t, c)
	list, err := again.Service().Messages(t.Context(), k, in.ID, service.Page{})
	must(t, err)
	// The answer to one more may have been lost.
	if list.Total < n || list.Total > n+1 {
		t.Errorf("%d messages were accepted, %d are stored", n, list.Total)
	}
}

func TestCheckReportsAllFaults(t *testing.T) {
	t.Parallel()
	faulty := server.Config{
		HTTP:      "nowhere",
		SMTP:      "127.0.0.1:99999",
		Metrics:   "x",
		Store:     "mysql://host/db",
		Domains:   []string{"One.test", "a_b", "two.test", "two.test"},
		CatchAll:  true,
		HTTPCert:  "cert.pem",
		SMTPCert:  "none.pem",
		SMTPKey:   "none.pem",
		Balancers: []string{"10.0.0.0/8", "somewhere", "10.0.0.0/99"},

		WebhookURL: "hooks.example",
	}
	faulty.Hostname, faulty.MaxRecipients = "a b", 200_000
	faulty.MaxErrors, faulty.MaxCommandLine, faulty.MaxInFlightBytes, faulty.IdleTimeout = -1, 100, 20<<20, -time.Second
	faulty.SSHLimits.Memory, faulty.SSHLimits.MaxSessions = 1, -1
	err := faulty.Check()
	if err == nil {
		t.Fatal("no fault is found")
	}
	faults := strings.Split(err.Error(), "\n")
	for _, want := range []string{"HTTP address", "SMTP address", "metrics address", "mysql://", "One.test", "a_b", "two.test is set twice", "catch-all",
		"HTTP needs both", "none.pem", "number of errors", "idle timeout", "command line", "host name", "messages in flight", "somewhere", "10.0.0.0/99",
		"to 200000 recipients", "--webhook-secret-file", "URL for webhooks", "memory for all SSH sessions", "number of SSH sessions"} {
		n := 0
		for _, fault := range faults {
			if strings.Contains(fault, want) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is in %d of the faults:\n%v", want, n, err)
		}
	}
	if len(faults) != 22 {
		t.Errorf("%d faults are reported:\n%v", len(faults), err)
	}
	if err := config(t).Check(); err != nil {
		t.Errorf("a good configuration: %v", err)
	}
}

// A start that fails leaves nothing behind that would make the next one fail.
func TestFailedStartReleasesEverything(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	c := config(t)
	c.SMTP = taken.Addr().String()
	if _, err := server.Start(t.Context(), c); err == nil {
		t.Fatal("started on a port that is taken")
	}
	must(t, taken.Close())
	c.CatchAll, c.CatchAllKey = true, "key_none"
	if _, err := server.Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "key_none") {
		t.Fatalf("started with a key that does not exist: %v", err)
	}
	c.CatchAll = false
	start(t, c)
	c.SMTP = "127.0.0.1:0"
	if _, err := server.Start(t.Context(), c); err == nil {
		t.Error("two servers have the same store")
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Metrics = "127.0.0.1:0"
	c.Chaos = "mail=451:0%, data=slow:1ms"
	s := start(t, c)
	key, in := newInbox(t, s)
	must(t, send(s.SMTPAddr(), in.Address, "counted"))
	must(t, openAdmin(t, c.Store).Backup(t.Context(), filepath.Join(t.TempDir(), "backup")))
	if err := send(s.SMTPAddr(), "nobody@one.test", "refused"); err == nil {
		t.Fatal("mail for an unknown recipient was accepted")
	}
	methods := []string{"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"}
	for _, method := range methods {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.HTTPAddr()+"/v1/inboxes", nil)
		must(t, err)
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		must(t, answer.Body.Close())
	}
	var metrics string
	for range 1000 { // until what the store and the service do besides is done
		_, metrics = get(t, http.DefaultClient, "http://"+s.Addr("metrics")+"/metrics")
		if strings.Contains(metrics, "mayfly_store_queue 0\n") && strings.Contains(metrics, "mayfly_http_long_polls 0\n") {
			break
		}
	}
	for _, want := range []string{
		"mayfly_smtp_accepted_total 1\n",
		`mayfly_smtp_refused_total{reason="unknown_recipient"} 1` + "\n",
		`mayfly_smtp_chaos_total{rule="mail=451:0%"} 0` + "\n",
		`mayfly_smtp_chaos_total{rule="data=slow:1ms"} 1` + "\n",
		"mayfly_http_long_polls 0\n",
		"mayfly_store_bytes ",
		"mayfly_store_sync_seconds_count ",
		"mayfly_store_queue 0\n",
		"mayfly_store_writable 1\n",
		"mayfly_store_backup_timestamp_seconds 1.",
		`go_build_info{checksum="",path=`,
		`mayfly_key_inboxes{key="` + key.ID + `",name="",plan="enterprise"} 1` + "\n",
		`mayfly_key_inboxes_limit{key="` + key.ID + `",name="",plan="enterprise"} 1e+06` + "\n",
		`mayfly_key_messages_today{key="` + key.ID + `",name="",plan="enterprise"} 1` + "\n",
		`mayfly_key_messages_limit{key="` + key.ID + `",name="",plan="enterprise"} 100000` + "\n",
		"go_goroutines ",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("there is no %q in\n%s", want, metrics)
		}
	}
	for _, method := range methods {
		if !strings.Contains(metrics, `mayfly_http_requests_total{method="`+method+`",path="",status="401"} 1`+"\n") {
			t.Errorf("%s is not counted in\n%s", method, metrics)
		}
	}
	// The metrics are for the operator, not for users of the API.
	if status, _ := get(t, http.DefaultClient, "http://"+s.HTTPAddr()+"/metrics"); status != http.StatusNotFound {
		t.Errorf("on the address of the API: %d", status)
	}
}

func get(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	resp, err := client.Get(url)
	must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(body)
}

// Connections above the limit wait until another one ends, of a long poll too.
func TestHTTPConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.MaxHTTPConnections, c.MaxHTTPConnectionsPerAddress = 2, 2
	s := start(t, c)
	secret, k, err := s.Service().CreateKey(t.Context(), "", service.Dev)
	must(t, err)
	in, err := s.Service().CreateInbox(t.Context(), k, service.NewInbox{})
	must(t, err)
	ask := func(request string) net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", s.HTTPAddr())
		must(t, err)
		t.Cleanup(func() { conn.Close() })
		must(t, fortest.Failure(io.WriteString(conn, "GET "+request+"\r\nHost: x\r\n\r\n")))
		return conn
	}
	answered := func(conn net.Conn) {
		t.Helper()
		b := make([]byte, 12)
		if _, err := io.ReadFull(conn, b); err != nil || string(b) != "HTTP/1.1 200" {
			t.Fatalf("%q, %v", b, err)
		}
	}
	const health = "/healthz HTTP/1.1"
	first := ask(health)
	answered(first)
	poll := ask("/v1/inboxes/" + in.ID + "/messages HTTP/1.1\r\nX-API-Key: " + secret + "\r\nIf-None-Match: *\r\nPrefer: wait=50\r\nConnection: close")
	third := ask(health)
	must(t, third.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	if _, err := third.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a third connection is served: %v", err)
	}
	must(t, third.SetReadDeadline(time.Time{}))
	must(t, first.Close())
	answered(third)
	fourth := ask(health)
	must(t, send(s.SMTPAddr(), in.Address, "ends the long poll and its connection"))
	answered(poll)
	answered(fourth)
}

func certificate(t *testing.T, certFile, keyFile, name string) {
	t.Helper()
	certificateUntil(t, certFile, keyFile, name, time.Now().Add(time.Hour))
}

func certificateUntil(t *testing.T, certFile, keyFile, name string, end time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: end}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: der}} {
		must(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
}

// Both servers speak TLS, and use a renewed certificate without a restart.
func TestTLS(t *testing.T) {
	t.Parallel()
	c := config(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, cert, key, "first.test")
	c.HTTPCert, c.HTTPKey, c.SMTPS = cert, key, "127.0.0.1:0"
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "SMTPS needs a certificate") {
		t.Errorf("without a certificate: %v", err)
	}
	c.SMTPCert, c.SMTPKey = cert, key
	var log fortest.Log
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := start(t, c)

	names := func() string {
		t.Helper()
		// The test looks at the certificates itself.
		insecure := &tls.Config{InsecureSkipVerify: true}
		web, err := tls.Dial("tcp", s.HTTPAddr(), insecure)
		must(t, err)
		defer web.Close()
		mail, err := smtp.Dial(s.SMTPAddr())
		must(t, err)
		defer mail.Close()
		must(t, mail.StartTLS(insecure))
		state, _ := mail.TLSConnectionState()
		return fmt.Sprint(web.ConnectionState().PeerCertificates[0].DNSNames, state.PeerCertificates[0].DNSNames)
	}
	if got := names(); got != "[first.test] [first.test]" {
		t.Errorf("certificates for %s", got)
	}

	// In the middle of a renewal the two files do not match.
	must(t, os.WriteFile(key, []byte("half written"), 0o600))
	if got := names(); got != "[first.test] [first.test]" {
		t.Errorf("in the middle of a renewal: certificates for %s", got)
	}
	names()
	if n := strings.Count(log.String(), "the changed TLS certificate"); n != 2 { // for HTTP and for SMTP
		t.Errorf("%d warnings of four handshakes:\n%s", n, log.String())
	}
	certificate(t, cert, key, "second.test")
	// The file system's clock may be coarse.
	must(t, os.Chtimes(cert, time.Now(), time.Now().Add(time.Minute)))
	if got := names(); got != "[second.test] [second.test]" {
		t.Errorf("after the renewal: certificates for %s", got)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	if status, _ := get(t, client, "https://"+s.HTTPAddr()+"/readyz"); status != http.StatusOK {
		t.Errorf("ready: %d", status)
	}
	_, in := newInbox(t, s)
	conn, err := tls.Dial("tcp", s.Addr("SMTPS"), &tls.Config{InsecureSkipVerify: true})
	must(t, err)
	mail, err := smtp.NewClient(conn, "second.test")
	must(t, err)
	defer mail.Close()
	if ok, _ := mail.Extension("STARTTLS"); ok {
		t.Error("STARTTLS within TLS")
	}
	must(t, mail.Mail("x@y.test"))
	must(t, mail.Rcpt(in.Address))
}

// A certificate that has expired is used, since nothing better is there, and said to have.
func TestExpiredCertificate(t *testing.T) {
	t.Parallel()
	c := config(t)
	dir := t.TempDir()
	c.SMTPCert, c.SMTPKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificateUntil(t, c.SMTPCert, c.SMTPKey, "mx.test", time.Now().Add(-time.Hour))
	var log fortest.Log
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := start(t, c)
	for range 2 {
		mail, err := smtp.Dial(s.SMTPAddr())
		must(t, err)
		must(t, mail.StartTLS(&tls.Config{InsecureSkipVerify: true}))
		must(t, mail.Close())
	}
	if n := strings.Count(log.String(), "has expired"); n != 1 {
		t.Errorf("%d warnings of a start and two handshakes:\n%s", n, log.String())
	}
}

// A database is served and administered like a folder, and its password is not logged.
func TestDatabase(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Store = pgtest.Database(t)
	var log bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	u, err := url.Parse(c.Store)
	must(t, err)
	if _, has := u.User.Password(); !has {
		u.User = url.UserPassword(u.User.Username(), "hunter2")
		c.Store = u.String()
	}
	s := start(t, c)
	a := openAdmin(t, c.Store)
	made, err := a.CreateKey(t.Context(), "ci", "dev", "")
	must(t, err)
	if k, err := s.Service().Authenticate(t.Context(), made.Secret); err != nil || k.ID != made.ID {
		t.Errorf("the server has %+v, %v", k, err)
	}
	_, in := newInbox(t, s)
	if err := send(s.SMTPAddr(), in.Address, "kept"); err != nil {
		t.Error(err)
	}
	// What a client of another process returned, no other returns.
	other := start(t, c)
	box, err := client(t, s, made.Secret).CreateInbox(t.Context(), api.CreateInbox{})
	must(t, err)
	returned := 0
	for _, process := range []*server.Server{s, other, s} {
		must(t, registry.Remote(client(t, process, made.Secret)).UpdateConsumed(t.Context(), box.ID, func(d *watch.Consumed) bool {
			return d.Take(watch.Code, watch.Found{Message: api.Message{ID: "msg_a"}})
		}, func() bool { returned++; return true }))
	}
	if returned != 1 {
		t.Errorf("a message is returned %d times", returned)
	}
	must(t, other.Shutdown(t.Context()))
	for _, err := range []error{a.Backup(t.Context(), filepath.Join(t.TempDir(), "backup")), server.Restore(t.Context(), t.TempDir(), c.Store)} {
		if err == nil || !strings.Contains(err.Error(), "pg_") {
			t.Errorf("the error does not name the tools of the database: %v", err)
		}
	}
	must(t, s.Shutdown(t.Context()))
	if strings.Contains(log.String(), "hunter2") {
		t.Errorf("the password is in the log:\n%s", &log)
	}
}

// impatient gets each line of a log, such as that a start waits for its database.
type impatient func(line string)

func (f impatient) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

func TestErrorsDoNotContainPasswords(t *testing.T) {
	t.Parallel()
	for _, store := range []string{
		"postgres://ada:hunter2@127.0.0.1:1/db",
		"postgresql://127.0.0.1:1/db?user=ada&password=hunter2",
		"postgres://ada:hunter2@127.0.0.1:1,127.0.0.1:2/db?connect_timeout=1",
		"postgres://ada:hunter%2@127.0.0.1:1/db",
		"postgres://ada:hunter2@127.0.0.1:port/db",
		"postgres://ada:hunter2@127.0.0.1:1/db?sslmode=hunter2",
		"postgres://ada:hunter2@[::1/db",
		"mysql://ada:hunter2@127.0.0.1/db",
	} {
		c := config(t)
		c.Store = store
		ctx, cancel := context.WithCancel(t.Context())
		var log impatient = func(line string) {
			if cancel(); strings.Contains(line, "hunter") {
				t.Errorf("%s: logged %s", store, line)
			}
		}
		c.Log = slog.New(slog.NewTextHandler(log, nil))
		_, started := server.Start(ctx, c)
		cancel()
		_, opened := server.OpenAdmin(t.Context(), store, nil)
		for _, err := range []error{started, opened} {
			if err == nil || strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", store, err)
			}
		}
		if name := server.StoreName(store); strings.HasPrefix(store, "postgres") && strings.Contains(name, "hunter") {
			t.Errorf("the name of %s is %s", store, name)
		}
	}
}

func TestMain(m *testing.M) {
	if len(os.TempDir()) > 30 {
		os.Setenv("TMPDIR", "/tmp") // the names of sockets have a bound
	}
	os.Exit(pgtest.Run(m))
}

var must = fortest.Must
