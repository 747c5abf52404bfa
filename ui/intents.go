package ui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/manual"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/intent"
	"mayfly/ui/panes"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/status"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// saveTimeout bounds keeping a profile: a keyring may ask the user.
const saveTimeout = 30 * time.Second

// carry carries an intent out: a command to run, a dialog to open, or one of package intent.
func (a *app) carry(v any) tea.Cmd {
	s := a.link.Session
	switch v := v.(type) {
	case tea.Cmd:
		return v
	case dialog.Dialog:
		a.dialogs = append(a.dialogs, v)
	case tea.KeyPressMsg: // it ended the typing of a filter, and is meant for the list
		return a.onKey(v)
	case intent.Tell:
		a.tell(v.Text)
	case intent.Perform:
		return a.perform(a.table.ByID(v.ActionID))
	case intent.ShowInbox:
		a.showInbox()
	case intent.Preview:
		return a.preview()
	case intent.OpenMessage:
		return a.openMessage(a.messages.Message())
	case intent.FilterChanged:
		a.refreshLists()
	case intent.Leave:
		a.leave()
	case intent.CreateInbox:
		a.creating = true
		return s.Create(v.Request, v.Copy)
	case intent.AdoptInbox:
		return s.Adopt(v.ID)
	case intent.LabelInbox:
		if i := a.store.Inboxes[v.ID]; i != nil {
			i.Label = render.Clean(v.Label)
			a.refreshLists()
			return s.Label(i)
		}
	case intent.DeleteInboxes:
		a.footer.Work("Deleting", 0, len(v.IDs))
		return s.Delete(v.IDs)
	case intent.AskOpen:
		if q, err := reader.LinkQuestion(v.Link); err != nil {
			a.fail(err)
		} else {
			a.dialogs = append(a.dialogs, q)
		}
	case intent.OpenURL:
		return func() tea.Msg {
			return session.Done{Text: "opened " + render.Clean(v.URL.Hostname()), Err: a.opener()(a.ctx, v.URL.String())}
		}
	case intent.Copy:
		return a.copyText(v.Text, v.What)
	case intent.Connect:
		return a.connect(v)
	}
	return nil
}

// copyText puts text on the terminal's clipboard by OSC 52, which has no answer, and on those of this
// machine. The screen says which ways were used.
func (a *app) copyText(text, what string) tea.Cmd {
	a.footer.Say(status.Success, "copied "+what+" (OSC 52)", a.now)
	env, ctx, copyText := a.terminal.Env, a.ctx, a.host.copy
	return tea.Batch(tea.SetClipboard(text), func() tea.Msg {
		clipboards, err := copyText(ctx, env, text)
		if err != nil || len(clipboards) == 0 { // the terminal's clipboard has it
			return nil
		}
		return session.Done{Text: "copied " + what + " (OSC 52, " + strings.Join(clipboards, ", ") + ")"}
	})
}

// copyAddress copies an address; the time until mail arrives is measured from here.
func (a *app) copyAddress(i *store.Inbox) tea.Cmd {
	i.CopiedAt = a.now
	a.link.Session.Watcher.Touch(i.ID)
	return a.copyText(i.Email, i.Email)
}

// opener returns what hands a target to the system's opener.
func (a *app) opener() func(ctx context.Context, target string) error {
	env, open := a.terminal.Env, a.host.open
	return func(ctx context.Context, target string) error { return open(ctx, env, target) }
}

func (a *app) connect(c intent.Connect) tea.Cmd {
	cmd := a.link.Connect(session.Target{Profile: c.Profile, BaseURL: c.BaseURL, Key: c.Key}, a.now)
	save := a.opts.SaveProfile
	if !c.Keep || save == nil {
		return cmd
	}
	p, ctx := Profile{Name: c.Profile, BaseURL: c.BaseURL}, a.ctx
	a.opts.Profiles = append(slices.DeleteFunc(slices.Clone(a.opts.Profiles), func(x Profile) bool { return x.Name == p.Name }), p)
	return tea.Batch(cmd, func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, saveTimeout)
		defer cancel()
		return session.Done{Text: "kept profile " + p.Name, Err: save(ctx, p, c.Key)}
	})
}

// labelLinks labels the links on the screen.
func (a *app) labelLinks() any {
	d := a.reader.Labels()
	if d == nil {
		return intent.Tell{Text: "No link is on the screen"}
	}
	a.focus = panes.Reader
	return d
}

func (a *app) pause() any {
	i := a.inbox()
	i.Paused = !i.Paused
	a.link.Session.Watcher.Pause(i.ID, i.Paused)
	if i.Paused {
		return intent.Tell{Text: fmt.Sprintf("%s is paused: %s goes on, %s looks once", i.Name(), a.table.KeyFor("pause"), a.table.KeyFor("refresh"))}
	}
	return intent.Tell{Text: i.Name() + " is watched again"}
}

// refresh asks for the lists again, or tries to connect again.
func (a *app) refresh() tea.Cmd {
	if t := a.link.Trouble(); !a.link.Working() || t == session.KeyRefused || t == session.NotInPlan {
		return a.link.Reconnect(a.now)
	}
	if a.reader.Err != nil {
		return a.openMessage(a.reader.Message)
	}
	id := ""
	if i := a.inboxes.Inbox(); i != nil && a.link.Err == nil {
		id = i.ID
	}
	a.link.Session.Watcher.Refresh(id)
	return nil
}

// manualDialog shows the pages of the manual.
func manualDialog(th *theme.Theme) dialog.Dialog {
	c := th.Colors
	style := manual.Style{Profile: th.Profile, Accent: c.Accent, Dim: c.Dim, Code: c.Code, Link: c.Link}
	var pages []dialog.Page
	for _, t := range manual.Topics() {
		pages = append(pages, dialog.Page{Title: t.Title, Lines: func(w int) []string {
			lines, err := manual.Render(t.Name, w, style)
			if err != nil {
				return []string{session.Explain(err)}
			}
			return lines
		}})
	}
	return dialog.NewManual(pages)
}

// nextTheme goes through the themes. A choice that is to stay is written in config.toml.
func (a *app) nextTheme() any {
	names := theme.Names()
	if len(names) == 0 {
		return nil
	}
	a.cfg.UI.Theme = names[(slices.Index(names, a.theme.Name)+1)%len(names)]
	a.applyTheme()
	return intent.Tell{Text: fmt.Sprintf("Theme %s: to keep it, write theme = %q under [ui]", a.cfg.UI.Theme, a.cfg.UI.Theme)}
}

// quit ends the application. The terminal need not keep the images that it was given.
func (a *app) quit() tea.Cmd {
	if release := a.reader.ReleaseImages(); release != nil {
		return tea.Sequence(release, tea.Quit)
	}
	return tea.Quit
}

// downloads is the folder for messages and attachments.
func (a *app) downloads() string {
	dir := a.cfg.UI.DownloadDir
	if dir == "" {
		return a.host.downloads
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return dir
}

// tell shows a note in the bottom line.
func (a *app) tell(text string) { a.footer.Say(status.Note, text, a.now) }

// say shows how work ended.
func (a *app) say(d session.Done) {
	if d.Err != nil {
		a.fail(d.Err)
	} else {
		a.footer.Say(status.Success, d.Text, a.now)
	}
}

// fail says what went wrong.
func (a *app) fail(err error) {
	a.opts.Log.Warn("failed", "error", err)
	a.footer.Say(status.Failure, session.Explain(err), a.now)
}
