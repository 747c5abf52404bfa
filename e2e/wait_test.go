//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mayfly/api/apitest"
)

// machineWith returns a machine that is configured for a service with some options.
func machineWith(t *testing.T, o apitest.Options) (*machine, *apitest.Server) {
	double := apitest.New(t, o)
	web := httptest.NewServer(double)
	t.Cleanup(web.Close)
	t.Cleanup(double.Close) // before the other: it ends the answers that wait
	return newMachine(t).with("MAYFLY_BASE_URL="+web.URL, "MAYFLY_API_KEY="+apitest.Key), double
}

// codeAndLink is the text of a mail with a code and a link that has it, too.
func codeAndLink(code string) string {
	return "Your verification code is " + code + ".\n\nConfirm your e-mail address: https://acme.example/confirm?t=" + code + "\n"
}

// running is a run of the program that has not ended.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
}

func (m *machine) start(args ...string) *running {
	r := &running{t: m.t.(*testing.T), cmd: m.command(args...)}
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	must(m.t, r.cmd.Start())
	return r
}

// output waits for the end of the run, which must be well.
func (r *running) output() string {
	r.t.Helper()
	if err := r.cmd.Wait(); err != nil {
		r.t.Errorf("%s: %v: %s", r.cmd, err, &r.stderr)
	}
	return r.stdout.String()
}

func (r *running) end(signal syscall.Signal) {
	_ = r.cmd.Process.Signal(signal)
	_ = r.cmd.Wait() // ended by the signal
}

func TestEachMailGoesToOneOfManyWaits(t *testing.T) {
	t.Parallel()
	const waits = 12
	s, m := newMachine(t).serveUser("enterprise")
	address := m.mustRun("new")
	send(t, s.smtp, address, coded(address, "999999")) // the first wait on an inbox takes the newest of what is there
	m.prints("999999", "wait", "--code")
	var all []*running
	for range waits {
		all = append(all, m.start("wait", address, "--code"))
	}
	var want []string
	for n := range waits {
		want = append(want, fmt.Sprint(100001+n*7))
		send(t, s.smtp, address, coded(address, want[n]))
	}
	var got []string
	for _, r := range all {
		got = append(got, strings.TrimSpace(r.output()))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("printed %v, want %v", got, want)
	}
}

func TestAWaitThatIsKilledTakesNothing(t *testing.T) {
	t.Parallel()
	m, double := machineWith(t, apitest.Options{Extensions: true})
	address := m.mustRun("new")
	for n := range 4 {
		requests := len(double.Requests())
		killed := m.start("wait", address, "--code")
		eventually(t, "it waits", func() bool { return len(double.Requests()) >= requests+1+n%2 }) // for the list, or with a long poll
		killed.end(syscall.SIGKILL)
		code := fmt.Sprint(111111 * (n + 1))
		deliver(t, double, address, apitest.Mail{From: "a@acme.example", Subject: "Your code", Text: codeAndLink(code)})
		m.prints(code, "wait", "--code")
	}

	// This one is killed while it prints, with the lock in its hands.
	deliver(t, double, address, apitest.Mail{From: "a@acme.example", Subject: "long", Text: strings.Repeat("All work and no play. ", 20_000)})
	reads, writes, err := os.Pipe()
	must(t, err)
	defer reads.Close()
	cmd := m.command("wait", address, "--subject", "long")
	cmd.Stdout = writes
	must(t, cmd.Start())
	must(t, writes.Close())
	if _, err := reads.Read(make([]byte, 1)); err != nil { // it prints
		t.Fatal(err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed
	if got := m.mustRun("wait", address, "--subject", "long"); !strings.HasSuffix(got, "no play.") {
		t.Errorf("the end of what was printed afterwards is %q", got[max(0, len(got)-40):])
	}
}

func TestAWaitThatCannotPrintTakesNothing(t *testing.T) {
	t.Parallel()
	m, double := machineWith(t, apitest.Options{})
	address := m.mustRun("new")
	deliver(t, double, address, apitest.Mail{From: "a@acme.example", Subject: "Your code", Text: codeAndLink("111111")})
	reads, writes, err := os.Pipe()
	must(t, err)
	must(t, reads.Close())
	defer writes.Close()
	cmd := m.command("wait", "--code")
	cmd.Stdout = writes
	if err := cmd.Run(); err == nil {
		t.Error("it is said to be printed")
	}
	m.prints("111111", "wait", "--code")
}

// A test runner that is killed leaves nobody to read what it waits for.
func TestAWaitEndsWithItsReader(t *testing.T) {
	t.Parallel()
	m, _ := machineWith(t, apitest.Options{Extensions: true})
	address := m.mustRun("new")
	for _, command := range []string{"wait", "watch"} {
		r, w, err := os.Pipe()
		must(t, err)
		cmd := m.command(command, address)
		cmd.Stdout = w
		must(t, cmd.Start())
		w.Close()
		r.Close()
		_ = cmd.Wait() // its status follows
		if status := cmd.ProcessState.ExitCode(); status != 141 {
			t.Errorf("%s: status %d", command, status)
		}
	}
}

// A test signs up again and again, each time with the code that was just mailed, whether it begins to
// wait before or after the mail, or before there is an inbox.
func TestCodesInARow(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	smtp, _ := m.useFreePorts()
	m.mustRun("up")
	for n := range 3 {
		code := fmt.Sprint(300007 + n*1009)
		early := m.start("wait", "Ada@Any.Example", "--code")
		send(t, smtp, "ada@any.example", coded("ada@any.example", code))
		if got := early.output(); got != code+"\n" {
			t.Errorf("printed %q, want %s", got, code)
		}
		code = fmt.Sprint(200003 + n*1009)
		send(t, smtp, "ada@any.example", coded("ada@any.example", code))
		m.prints(code, "wait", "ada@any.example", "--code", "--timeout", "10s")
	}
	m.fails(3, "nobody", "wait", "nobody")
}

// BenchmarkMailToCode measures from the acceptance of a mail by the service to the code that a `mayfly
// wait --code`, which was waiting for it, has printed; printed-p50-ms is from the start of one whose
// mail is already there.
func BenchmarkMailToCode(b *testing.B) {
	s, m := newMachine(b).serveUser("enterprise")
	address := m.mustRun("new")
	mails := dialSender(b, s.smtp)
	run := func(n int, mail func()) time.Duration {
		cmd := m.command("wait", address, "--code")
		output, err := cmd.StdoutPipe()
		must(b, err)
		begun := time.Now()
		must(b, cmd.Start())
		if mail != nil {
			mail()
			begun = time.Now()
		}
		line, err := bufio.NewReader(output).ReadString('\n')
		took := time.Since(begun)
		if want := fmt.Sprintln(100_000 + n); err != nil || line != want {
			b.Fatalf("printed %q, want %q, %v", line, want, err)
		}
		must(b, cmd.Wait())
		return took
	}
	var waited, there []time.Duration
	for n := 0; b.Loop(); n += 2 {
		send := func(n int) {
			must(b, mails.send(address, coded(address, fmt.Sprint(100_000+n))))
		}
		waited = append(waited, run(n, func() {
			time.Sleep(200 * time.Millisecond) // its long poll has begun by then
			send(n)
		}))
		send(n + 1)
		there = append(there, run(n+1, nil))
	}
	for name, took := range map[string][]time.Duration{"": waited, "printed-": there} {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2])/1e6, name+"p50-ms")
		b.ReportMetric(float64(took[len(took)*9/10])/1e6, name+"p90-ms")
	}
	b.ReportMetric(0, "ns/op")
}
