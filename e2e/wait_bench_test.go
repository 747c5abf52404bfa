//go:build unix

package e2e

import (
	"bufio"
	"fmt"
	"slices"
	"testing"
	"time"
)

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
			time.Sleep(200 * time.Millisecond) // it is held by then
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
