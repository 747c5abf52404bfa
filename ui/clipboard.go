package ui

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/atotto/clipboard"
)

// copiedMsg is the outcome of copying to the native clipboard, beside OSC 52, which has no answer.
type copiedMsg struct {
	what string
	way  string // of the native clipboard; empty when there is none
}

// toClipboard copies text by OSC 52 and, where there is one, into the native clipboard. The terminal
// does not say whether it took the first; the screen says which ways were used.
func (a *app) toClipboard(text, what string) tea.Cmd {
	a.say(done, "copied "+what+" (OSC 52)")
	copyNative, env := a.world.copy, clipboardEnv{ssh: a.caps.ssh, tmux: a.caps.tmux}
	return tea.Batch(tea.SetClipboard(text), func() tea.Msg {
		return copiedMsg{what: what, way: copyNative(text, env)}
	})
}

func (m copiedMsg) apply(a *app) tea.Cmd {
	if m.way != "" {
		return a.say(done, "copied "+m.what+" (OSC 52, "+m.way+")")
	}
	return nil
}

// clipboardEnv is where the program runs, as far as clipboards go.
type clipboardEnv struct{ ssh, tmux bool }

const clipboardTimeout = 2 * time.Second

// copyNative puts text into the clipboards this machine has and names them. Inside tmux that is tmux's own
// buffer, passed on to the outer terminal; over SSH the clipboard of the machine is nobody's.
func copyNative(text string, env clipboardEnv) string {
	var ways []string
	if env.tmux && copyTmux(text) == nil {
		ways = append(ways, "tmux")
	}
	if !env.ssh && !clipboard.Unsupported && copySystem(text) == nil {
		ways = append(ways, "clipboard")
	}
	return strings.Join(ways, ", ")
}

func copyTmux(text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), clipboardTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}

var errNoAnswer = errors.New("the clipboard does not answer")

// copySystem gives up on a clipboard that does not answer; its helper program is left to itself.
func copySystem(text string) error {
	result := make(chan error, 1)
	go func() { result <- clipboard.WriteAll(text) }()
	select {
	case err := <-result:
		return err
	case <-time.After(clipboardTimeout):
		return errNoAnswer
	}
}
