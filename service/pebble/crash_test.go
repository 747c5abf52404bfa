package pebble

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/service"
)

// crashDir makes the test's program the process that is killed, if set to the directory of a store.
const crashDir = "MAYFLY_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := writeUntilKilled(dir, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// writeUntilKilled changes the store with many writers, and prints a line for each acknowledged
// change.
func writeUntilKilled(dir string, out io.Writer) error {
	s, err := Open(dir, Options{Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Memory: 2 << 20}) // many logs
	if err != nil {
		return err
	}
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for err == nil {
				if e := writeSome(s, out); e != nil {
					fmt.Fprintln(os.Stderr, e)
					return
				}
			}
		})
	}
	writers.Wait()
	return errors.New("the writers ended")
}

func writeSome(s *Store, out io.Writer) error {
	ctx := context.Background()
	name := fmt.Sprintf("%016x", rand.Uint64())
	in := service.Inbox{
		ID: "inbox_" + name, KeyID: "key_a", Address: name + "@x.test",
		CreatedAt: noon, ExpiresAt: noon.Add(time.Duration(rand.IntN(1000)) * time.Second).Add(time.Hour),
	}
	if err := s.CreateInbox(ctx, in, math.MaxInt); err != nil {
		return err
	}
	fmt.Fprintln(out, "created", name)
	twin := in // gets the same messages, and may be gone before
	twin.ID, twin.Address, twin.ExpiresAt = "inbox_twin"+name, "twin"+in.Address, twin.ExpiresAt.Add(time.Minute)
	if err := s.CreateInbox(ctx, twin, math.MaxInt); err != nil {
		return err
	}
	count := rand.IntN(2 * fewMessages)
	for i := range count {
		a := delivery(in, append(fmt.Appendf(nil, "%d.", i), padding...))
		a.Messages[0].Subject = fmt.Sprint(i)
		if i%2 == 0 {
			a.Messages = append(a.Messages, delivery(twin, nil).Messages...)
		}
		if err := s.Append(ctx, a); err != nil {
			return err
		}
		fmt.Fprintln(out, "message", name, i)
	}
	if rand.IntN(2) == 0 {
		if err := s.DeleteInbox(ctx, twin.KeyID, twin.ID); err != nil {
			return err
		}
	}
	if count > 0 && rand.IntN(2) == 0 {
		all, err := s.Messages(ctx, in, uint64(count)+1, 0)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "removing", name, all[0].Subject)
		if err := s.DeleteMessages(ctx, in, all[0].ID); err != nil {
			return err
		}
		fmt.Fprintln(out, "removed", name)
	}
	if rand.IntN(3) == 0 {
		fmt.Fprintln(out, "deleting", name)
		if err := s.DeleteInbox(ctx, in.KeyID, in.ID); err != nil {
			return err
		}
		fmt.Fprintln(out, "deleted", name)
	}
	return nil
}

// Killed at any moment, the store opens again with everything that was acknowledged and nothing
// that was deleted. MAYFLY_LONG=1 kills ten stores instead of one.
func TestKill(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	must(t, err)
	stores := 1
	if os.Getenv("MAYFLY_LONG") != "" {
		stores = 10
	}
	for store := range stores {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(store))
		state := make(map[string]*acknowledgedInbox)
		for range 10 {
			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), crashDir+"="+dir)
			cmd.Stderr = t.Output()
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			lines, killAt := bufio.NewScanner(out), 1+rand.IntN(250)
			for n := 0; lines.Scan(); n++ {
				note(state, lines.Text())
				if n == killAt {
					must(t, cmd.Process.Kill())
				}
			}
			if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
				t.Fatalf("the process ended by itself: %v", err)
			}
			check(t, dir, state)
		}
	}
}

type acknowledgedInbox struct {
	messages          []string
	removing          string // a message, the newest
	removed           bool
	deleting, deleted bool
}

// note records a line. The last one before the kill may be incomplete, and is then ignored.
func note(state map[string]*acknowledgedInbox, line string) {
	f := strings.Fields(line)
	if len(f) < 2 || len(f[1]) != 16 {
		return
	}
	switch in := state[f[1]]; {
	case f[0] == "created":
		state[f[1]] = &acknowledgedInbox{}
	case f[0] == "message" && len(f) == 3:
		in.messages = append(in.messages, f[2])
	case f[0] == "removing" && len(f) == 3:
		in.removing = f[2]
	case f[0] == "removed":
		in.removed = true
		in.messages = slices.DeleteFunc(in.messages, func(m string) bool { return m == in.removing })
	case f[0] == "deleting":
		in.deleting = true
	case f[0] == "deleted":
		in.deleted = true
	}
}

func check(t *testing.T, dir string, state map[string]*acknowledgedInbox) {
	t.Helper()
	s := mustOpen(t, dir, Options{})
	for name, want := range state {
		in, err := s.Inbox(t.Context(), "key_a", "inbox_"+name)
		if service.ErrorCode(err) == service.NotFound {
			if !want.deleting {
				t.Fatalf("inbox %s was acknowledged and is lost", name)
			}
			want.deleted = true // and must stay so
			continue
		}
		must(t, err)
		if want.deleted {
			t.Fatalf("the deleted inbox %s is back", name)
		}
		got := subjects(t, s, in)
		slices.Reverse(got)
		if want.removing != "" && !slices.Contains(got, want.removing) {
			want.removed = true // and must stay so
			want.messages = slices.DeleteFunc(want.messages, func(m string) bool { return m == want.removing })
		}
		if want.removed && slices.Contains(got, want.removing) {
			t.Fatalf("the message %s that was deleted from inbox %s is back", want.removing, name)
		}
		if len(got) < len(want.messages) || !slices.Equal(got[:len(want.messages)], want.messages) {
			t.Fatalf("inbox %s has messages %q, acknowledged were %q", name, got, want.messages)
		}
		want.messages = got
		for seq := range in.Last {
			m, err := s.Message(t.Context(), in, seq+1)
			if service.ErrorCode(err) == service.NotFound && !slices.Contains(got, fmt.Sprint(seq)) {
				continue
			}
			if must(t, err); !strings.HasPrefix(string(m.Raw), m.Subject+".") {
				t.Fatalf("message %s of inbox %s has the body %.20q", m.Subject, name, m.Raw)
			}
		}
	}
	checkShares(t, s)
	must(t, s.Close())
}
