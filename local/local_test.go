package local_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/local"
	"mayfly/server"
)

// ownerVariable makes the test binary a process that opens the local service in the folder it
// names, says so, and ends when its input does.
const ownerVariable = "MAYFLY_TEST_LOCAL_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerVariable); dir != "" {
		if err := other(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func other(dir string) error {
	s, err := local.Open(context.Background(), options(dir))
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(s); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return s.Close(context.Background())
}

// process is another process that has opened the service.
type process struct {
	local.Session
	cmd *exec.Cmd
	end io.Closer // its standard input
}

func start(t *testing.T, dir string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), ownerVariable+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, end: in}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, unless the test failed
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &p.Session)
	}
	if err != nil {
		t.Fatalf("the other process said %q: %v", line, err)
	}
	return p
}

func options(dir string) local.Options {
	return local.Options{DataDir: dir, HTTP: "127.0.0.1:0", SMTP: "127.0.0.1:0"}
}

func open(t *testing.T, dir string) *local.Session {
	t.Helper()
	s, err := local.Open(t.Context(), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// subjects returns the subjects of the messages in all inboxes.
func subjects(t *testing.T, s *local.Session) string {
	t.Helper()
	var inboxes struct{ Inboxes []struct{ ID string } }
	get(t, s, "/v1/inboxes", &inboxes)
	var all []string
	for _, in := range inboxes.Inboxes {
		var list struct{ Messages []struct{ Subject string } }
		get(t, s, "/v1/inboxes/"+in.ID+"/messages", &list)
		for _, m := range list.Messages {
			all = append(all, m.Subject)
		}
	}
	return strings.Join(all, " ")
}

func get(t *testing.T, s *local.Session, path string, v any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.BaseURL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", s.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// send sends mail as an application under test would.
func send(t *testing.T, s *local.Session, to, subject string) {
	t.Helper()
	auth := smtp.PlainAuth("", "any", "login", "127.0.0.1")
	if err := smtp.SendMail(s.SMTPAddr, auth, "app@test.example", []string{to}, []byte("Subject: "+subject+"\r\n\r\nhello\r\n")); err != nil {
		t.Fatal(err)
	}
}

func TestMailToAnyAddressArrives(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if !s.Owner || s.PID != os.Getpid() {
		t.Errorf("session %+v", s)
	}
	send(t, s, "anyone@anywhere.example", "hello")
	if got := subjects(t, s); got != "hello" {
		t.Errorf("arrived: %q", got)
	}
}

func TestSecondProcessAttachesAndInherits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir)
	if !first.Owner {
		t.Fatal("the first process is not the owner")
	}
	second := open(t, dir)
	if second.Owner || second.PID != first.cmd.Process.Pid || second.BaseURL != first.BaseURL || second.Key != first.Key {
		t.Errorf("attached to %+v, started %+v", second, first.Session)
	}
	found, err := local.Find(t.Context(), options(dir))
	if err != nil || found.BaseURL != first.BaseURL {
		t.Fatalf("found %+v, %v", found, err)
	}
	if err := found.Close(t.Context()); err != nil {
		t.Error(err)
	}
	send(t, second, "a@b.example", "before")

	if err := first.end.Close(); err != nil {
		t.Fatal(err)
	}
	<-second.Done()
	third := open(t, dir)
	if !third.Owner || third.Key != first.Key {
		t.Errorf("after the owner ended: %+v", third)
	}
	if got := subjects(t, third); got != "before" {
		t.Errorf("inherited %q", got)
	}
}

func TestOwnerIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir)
	second := open(t, dir)
	send(t, second, "a@b.example", "kept")
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-second.Done()
	if _, err := os.Stat(filepath.Join(dir, "endpoint.json")); err != nil {
		t.Fatalf("a killed process leaves its file: %v", err)
	}
	if _, err := local.Find(t.Context(), options(dir)); !errors.Is(err, local.ErrNotRunning) {
		t.Errorf("found a service whose process was killed: %v", err)
	}
	third := open(t, dir)
	if !third.Owner {
		t.Error("did not become the owner")
	}
	if got := subjects(t, third); got != "kept" {
		t.Errorf("kept %q", got)
	}
}

// Of many concurrent callers of Open one becomes the owner, and when it closes one of the others
// does.
func TestManyOpenAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const n = 8
	sessions := make(chan *local.Session, n)
	var opening sync.WaitGroup
	for range n {
		opening.Go(func() {
			s, err := local.Open(t.Context(), options(dir))
			if err != nil {
				t.Error(err)
				return
			}
			sessions <- s
		})
	}
	opening.Wait()
	close(sessions)
	var owner *local.Session
	var others []*local.Session
	for s := range sessions {
		if s.Owner && owner != nil {
			t.Fatal("two owners")
		}
		if s.Owner {
			owner = s
		} else {
			others = append(others, s)
		}
	}
	if owner == nil || len(others) != n-1 {
		t.Fatalf("owner %v, %d others", owner, len(others))
	}
	if err := owner.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	owners := 0
	var mu sync.Mutex
	for _, s := range others {
		opening.Go(func() {
			<-s.Done()
			next, err := local.Open(t.Context(), options(dir))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if next.Owner {
				owners++
			}
			t.Cleanup(func() { _ = next.Close(context.Background()) })
		})
	}
	opening.Wait()
	if owners != 1 {
		t.Errorf("%d owners after the first one ended", owners)
	}
}

func TestNotRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := local.Find(t.Context(), options(dir)); !errors.Is(err, local.ErrNotRunning) {
		t.Errorf("in an empty folder: %v", err)
	}
	if _, err := local.Find(t.Context(), options(filepath.Join(dir, "none"))); !errors.Is(err, local.ErrNotRunning) {
		t.Errorf("in no folder: %v", err)
	}
	s, err := local.Open(t.Context(), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Find(t.Context(), options(dir)); !errors.Is(err, local.ErrNotRunning) {
		t.Errorf("after it ended: %v", err)
	}
}

func TestTakenPortIsReplaced(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	s, err := local.Open(t.Context(), local.Options{DataDir: t.TempDir(), HTTP: taken, SMTP: taken})
	if err != nil {
		t.Fatal(err)
	}
	if s.SMTPAddr == taken || s.BaseURL == "http://"+taken {
		t.Errorf("session %+v", s)
	}
	send(t, s, "a@b.example", "hello")
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits: the user's folder protects the files")
	}
	dir := filepath.Join(t.TempDir(), "new")
	open(t, dir)
	for name, want := range map[string]os.FileMode{
		"": 0o700, "store": 0o700, "lock": 0o600, "endpoint.json": 0o600, "store/api-key": 0o600, "store/admin.sock": 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := local.Open(t.Context(), options(filepath.Join(file, "below")))
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "XDG_DATA_HOME") {
		t.Errorf("want one line that says what to do, got: %v", err)
	}
}

func TestLoopbackOnly(t *testing.T) {
	t.Parallel()
	if _, err := local.Open(t.Context(), local.Options{DataDir: t.TempDir(), HTTP: "0.0.0.0:0"}); err == nil {
		t.Error("listens for the whole network")
	}
}

// Keys can be administered whether or not the service runs.
func TestAdministration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir)
	admin, err := server.OpenAdmin(t.Context(), options(dir).StoreDir())
	if err != nil {
		t.Fatal(err)
	}
	k, err := admin.CreateKey(t.Context(), "ci", "dev")
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Close(); err != nil {
		t.Error(err)
	}
	first.Key = k.Secret
	if got := subjects(t, &first.Session); got != "" {
		t.Errorf("a new key sees %q", got)
	}
	if err := first.end.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if admin, err = server.OpenAdmin(t.Context(), options(dir).StoreDir()); err != nil {
		t.Fatal(err)
	}
	keys, err := admin.Keys(t.Context())
	if err != nil || len(keys) != 2 || keys[1].ID != k.ID || keys[1].Name != "ci" {
		t.Errorf("keys %+v, %v", keys, err)
	}
	if err := admin.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir)
	// An owner that never says where it listens.
	if err := os.Remove(filepath.Join(dir, "endpoint.json")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := local.Open(ctx, options(dir)); err == nil {
		t.Error("attached to nothing")
	}
}
