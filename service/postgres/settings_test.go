package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// administer runs statements on a connection with none of the store's settings.
func administer(t *testing.T, url string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // at the end of the test, too
	conn, err := pgx.Connect(ctx, url)
	check(t, err)
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// ask returns the result of a query on such a connection.
func ask[T any](t *testing.T, url, sql string) (v T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer conn.Close(t.Context())
	check(t, conn.QueryRow(t.Context(), sql).Scan(&v))
	return v
}

// Settings that an administrator has made for other programs make no difference.
func TestSettingsForOtherPrograms(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	var settings []string
	for setting, value := range map[string]string{
		"default_transaction_isolation": "serializable",
		"lock_timeout":                  "1ms",
		"statement_timeout":             "1ms",
		"idle_session_timeout":          "50ms",
		"timezone":                      "Asia/Kolkata",
		"datestyle":                     "SQL, DMY",
		"standard_conforming_strings":   "off",
		"client_encoding":               "LATIN1",
	} {
		settings = append(settings, fmt.Sprintf("DO $$ BEGIN EXECUTE format('ALTER DATABASE %%I SET %s = %%L', current_database(), '%s'); END $$", setting, value))
	}
	administer(t, url, settings...)
	here, there := open(t, url, Options{}), open(t, url, Options{})
	heard := listen(t, there)
	in := create(t, here, 1, time.Hour)
	heard.wants(in.KeyID)
	const each = 50
	var senders sync.WaitGroup
	stores := []*Store{here, here, there, there}
	for _, s := range stores {
		senders.Go(func() {
			for range each {
				if err := deliver(t.Context(), s, in, "x"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	senders.Wait()
	list := messages(t, there, in)
	if len(list) != each*len(stores) || !list[0].ReceivedAt.Equal(in.CreatedAt) {
		t.Errorf("%d messages, the newest %+v", len(list), list[0])
	}
	if n := count(t, here, "SELECT setting::integer FROM pg_settings WHERE name = 'idle_session_timeout'"); n != 0 {
		t.Errorf("a connection that listens is cut after %d ms", n)
	}
}

func TestDatabasesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	server := pgtest.Database(t)
	with := func(change func(*url.URL)) string {
		u, err := url.Parse(server)
		check(t, err)
		change(u)
		return u.String()
	}
	latin := with(func(u *url.URL) { u.Path += "_latin" })
	name := latin[strings.LastIndex(latin, "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	administer(t, server, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	t.Cleanup(func() { administer(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	set := func(parameter, value string) string {
		return with(func(u *url.URL) {
			q := u.Query()
			q.Set(parameter, value)
			u.RawQuery = q.Encode()
		})
	}
	for what, test := range map[string]struct{ url, want string }{
		"another encoding":   {latin, "its encoding is LATIN1"},
		"no right to create": {set("role", "pg_monitor"), "make this user the owner of the database"},
		"no schema":          {set("search_path", "nowhere"), "its search_path names no schema that exists"},
		"no such user":       {with(func(u *url.URL) { u.User = url.UserPassword("nobody", "secret") }), "\"nobody\""},
		"no such database":   {with(func(u *url.URL) { u.Path = "/nowhere" }), ": database \"nowhere\" does not exist"},
		"nobody there":       {with(func(u *url.URL) { u.Host = "127.0.0.1:1" }), "connection refused"},
	} {
		s, err := Open(t.Context(), test.url, Options{})
		if err == nil {
			t.Errorf("%s: it opens: %v", what, s.Close())
			continue
		}
		if said := err.Error(); !strings.Contains(said, test.want) || strings.Contains(said, "secret") || strings.ContainsAny(said, "\n") {
			t.Errorf("%s: %s, want %s", what, said, test.want)
		}
	}
}

// Each server of a cluster is shown the client's certificate, and connected to with the store's settings.
func TestClientCertificateForEachServer(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	key, err := x509.MarshalPKCS8PrivateKey(web.TLS.Certificates[0].PrivateKey)
	check(t, err)
	file := filepath.Join(t.TempDir(), "client.pem")
	check(t, os.WriteFile(file, append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...), 0o600))
	config, err := poolConfig("postgres://mayfly@first.example:5433,127.0.0.9/mayfly?sslmode=require&pool_max_conns=7&sslcert="+file+"&sslkey="+file, time.Second)
	check(t, err)
	var nodes []node
	shown := make(chan int, 2)
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
		defer l.Close()
		nodes = append(nodes, node{"127.0.0.1", int32(l.Addr().(*net.TCPAddr).Port)})
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = io.ReadFull(conn, make([]byte, 8)) // asks for TLS
			_, _ = conn.Write([]byte("S"))
			secure := tls.Server(conn, &tls.Config{Certificates: web.TLS.Certificates, ClientAuth: tls.RequestClientCert})
			_ = secure.Handshake() // without one, nothing is shown
			shown <- len(secure.ConnectionState().PeerCertificates)
		}()
	}
	to, err := at(config, nodes...)
	check(t, err)
	if _, err := pgx.ConnectConfig(t.Context(), to.ConnConfig); err == nil {
		t.Error("connected to what is no database")
	}
	for range nodes {
		if n := <-shown; n != 1 {
			t.Errorf("a server was shown %d certificates", n)
		}
	}
	if to.MaxConns != 7 || to.ConnConfig.RuntimeParams["lock_timeout"] == "" || to.ConnConfig.User != "mayfly" || to.ConnConfig.Database != "mayfly" {
		t.Errorf("the configuration is %+v", to.ConnConfig)
	}
}

// A pooler between a process and its database is named at the start, whether it refuses settings or drops them.
func TestPoolerIsNamed(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("needs PgBouncer: install it, on Debian with apt-get install pgbouncer")
	}
	u, err := url.Parse(pgtest.Database(t))
	check(t, err)
	for _, ignored := range []string{"", "statement_timeout,idle_in_transaction_session_timeout,lock_timeout,idle_session_timeout,default_transaction_isolation," +
		"synchronous_commit,plan_cache_mode,enable_seqscan,enable_bitmapscan,enable_hashjoin,enable_mergejoin,jit"} {
		folder := pgtest.NewDir(t, ":")
		free, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
		_, port, _ := net.SplitHostPort(free.Addr().String())
		check(t, free.Close())
		settings := fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\nignore_startup_parameters = %s\n",
			u.Hostname(), u.Port(), port, ignored)
		if ignored == "" {
			settings = strings.ReplaceAll(settings, "ignore_startup_parameters = \n", "")
		}
		settings = strings.Replace(settings, "* = ", strings.TrimPrefix(u.Path, "/")+" = user=postgres dbname="+strings.TrimPrefix(u.Path, "/")+" ", 1)
		check(t, os.WriteFile(filepath.Join(folder.Path, "ini"), []byte(settings), 0o644))
		running := folder.Command(t.Context(), program, "ini")
		check(t, running.Start())
		through := *u
		through.Host = "127.0.0.1:" + port
		var said string
		await(t, "the pooler listens", func() bool {
			s, err := Open(t.Context(), through.String(), Options{})
			if err == nil {
				t.Errorf("it opens with %q: %v", ignored, s.Close())
				return true
			}
			said = err.Error()
			return !strings.Contains(said, "connection refused") || service.ErrorCode(err) != service.Unavailable
		})
		if !strings.Contains(said, "PgBouncer") || strings.Contains(said, "\n") {
			t.Errorf("with %q it says %s", ignored, said)
		}
		check(t, running.Process.Kill())
		_ = running.Wait() // it was killed
	}
}
