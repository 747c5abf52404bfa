package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/internal/fortest"
)

func TestLifetime(t *testing.T) {
	t.Parallel()
	const linger = 10 * time.Second
	wait := func(d time.Duration) func(*lifetime) { return func(*lifetime) { time.Sleep(d) } }
	attach := func(l *lifetime) { l.attach(false) }
	keep := func(l *lifetime) { l.attach(true) }
	stop := func(l *lifetime) { l.stop() }
	for _, c := range []struct {
		name    string
		kept    bool
		steps   []func(*lifetime)
		ended   bool
		stopped bool
	}{
		{name: "nobody comes", steps: []func(*lifetime){wait(linger)}, ended: true},
		{name: "somebody may still come", steps: []func(*lifetime){wait(linger - 1)}},
		{name: "a client", steps: []func(*lifetime){attach, wait(time.Hour)}},
		{name: "just after the last", steps: []func(*lifetime){attach, wait(time.Hour), (*lifetime).detach, wait(linger - 1)}},
		{name: "long after the last", steps: []func(*lifetime){attach, wait(time.Hour), (*lifetime).detach, wait(linger)}, ended: true},
		{name: "one of two leaves", steps: []func(*lifetime){attach, attach, (*lifetime).detach, wait(time.Hour)}},
		{name: "a second comes in between", steps: []func(*lifetime){attach, (*lifetime).detach, wait(linger - 1), attach, (*lifetime).detach, wait(linger - 1)}},
		{name: "and leaves", steps: []func(*lifetime){attach, (*lifetime).detach, wait(linger - 1), attach, (*lifetime).detach, wait(linger)}, ended: true},
		{name: "kept", kept: true, steps: []func(*lifetime){attach, (*lifetime).detach, wait(time.Hour)}},
		{name: "kept later", steps: []func(*lifetime){keep, (*lifetime).detach, wait(time.Hour)}},
		{name: "stopped", kept: true, steps: []func(*lifetime){attach, stop}, ended: true, stopped: true},
		{name: "interrupted", kept: true, steps: []func(*lifetime){attach, func(l *lifetime) { l.end(errInterrupted) }}, ended: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLifetime(linger, State{Kept: c.kept})
				for _, step := range c.steps {
					step(l)
				}
				synctest.Wait()
				ended := l.ended.Err() != nil
				if ended != c.ended || l.state.Stopped != c.stopped || l.attach(false) == ended {
					t.Errorf("ended: %v, %v; stopped: %v", ended, context.Cause(l.ended), l.state.Stopped)
				}
			})
		})
	}
}

func TestTheLogIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "local.log")
	log, err := openLog(path)
	fortest.Must(t, err)
	defer log.Close()
	line := ""
	for n := range 30_000 {
		line = fmt.Sprintf("%099d\n", n)
		fortest.Must(t, fortest.Failure(log.Write([]byte(line))))
	}
	if text, err := os.ReadFile(path); err != nil || len(text) > maxLog || !strings.HasSuffix(string(text), line) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
