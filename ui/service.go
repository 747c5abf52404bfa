package ui

import (
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/keys"
	"mayfly/render"
	"mayfly/ui/host"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

// session is the session with the service, nil until the first connection.
func (a *app) session() *session.Session { return a.connection.Session }

// request begins a request, which the bottom line shows until it is answered.
func (a *app) request(r session.Request) tea.Cmd { return a.footer.begin(r, a.now) }

// requests requests what the panes and the open dialogs lack, and has saved what was seen.
func (a *app) requests() tea.Cmd {
	s := a.session()
	if s == nil {
		return nil
	}
	s.SetView(a.inView())
	s.SaveSeen(a.store.Unsaved())
	var cmds []tea.Cmd
	for _, m := range a.store.Prefetch(a.toRead()) {
		cmds = append(cmds, s.Prefetch(m))
	}
	if !s.NoRaw && a.reader.WantsRaw() {
		a.reader.AwaitRaw(a.now)
		cmds = append(cmds, s.FetchRaw(a.reader.Message.Key, a.reader.Opened), redrawIn(reader.OpeningDelay))
	}
	cmds = append(cmds, a.reader.Paint(a.ctx, a.painter, s.Client))
	if a.search.NeedsTexts() && slices.Contains(a.dialogs, a.search.Dialog) {
		cmds = append(cmds, s.ReadTexts(a.store.NextTexts(), &a.store.Opened))
	}
	return tea.Batch(cmds...)
}

func (a *app) onAnswer(answer session.Answer) tea.Cmd {
	a.footer.end(answer)
	submitted := a.answerForm(answer)
	if err := answer.Interrupted(a.session()); err != nil {
		a.report(host.Done{Err: err})
		return nil
	}
	switch m := answer.Msg.(type) {
	case tea.BatchMsg:
		return tea.Batch(m...)
	case session.Connected:
		cmd := a.onConnected(m)
		a.report(a.connection.Outcome(m))
		if keep, lacksKeyring := a.connection.KeepInFile(m); lacksKeyring && submitted {
			return tea.Batch(cmd, a.show(a.keyFileQuestion(keep)))
		}
		return cmd
	}
	return a.route(answer.Msg)
}

// onConnected starts using a new connection.
func (a *app) onConnected(m session.Connected) tea.Cmd {
	change, cmd := a.connection.Use(m, a.now)
	if errors.Is(a.connection.Outcome(m).Err, keys.ErrNone) && !a.busy() {
		return tea.Batch(cmd, a.show(a.connectForm(m.Err)))
	}
	if change == session.None {
		return cmd
	}
	if change == session.Other {
		a.reset()
	}
	cmd = tea.Batch(cmd, a.begin(m))
	switch {
	case m.Err != nil || change == session.Again: // the cursor stays where it is
	case len(a.store.Order) == 0 && !a.session().Local: // inboxes may cost something there
	case len(a.store.Order) == 0:
		return tea.Batch(cmd, a.request(a.session().Create(api.CreateInbox{}, false)))
	case a.inboxes.Inbox() == nil && !a.inboxes.Typing():
		a.selectInbox(a.store.Order[0])
	}
	return cmd
}

// begin takes over the inboxes of a new connection and watches them, along with those already
// listed. Results of an earlier session will not arrive any more, so it fetches the open message again.
func (a *app) begin(m session.Connected) tea.Cmd {
	s := a.session()
	a.store.ResetPrefetches()
	a.store.Merge(m.Seen)
	s.Watcher.SetFocused(!a.terminal.Blurred)
	for _, i := range a.store.Inboxes {
		i.Generation = s.Watcher.Add(i.ID)
		s.Watcher.Pause(i.ID, i.Paused)
	}
	for _, k := range m.Known {
		if !k.ExpiresAt.After(a.now) && a.store.Inboxes[k.ID] == nil {
			continue
		}
		if i, isNew := a.store.PutKnown(k, a.now); isNew {
			i.Generation = s.Watcher.Add(i.ID)
		}
	}
	a.put(m.Inboxes...)
	a.updateLists()
	if a.reader.Message == nil {
		return nil
	}
	a.reader.AwaitRaw(time.Time{})
	return a.fetch()
}

// put adds inboxes to the store and watches the new ones.
func (a *app) put(inboxes ...api.Inbox) {
	for _, in := range inboxes {
		if i, isNew := a.store.Put(in, a.now); isNew {
			i.Generation = a.session().Watcher.Add(i.ID)
		}
	}
}

func (a *app) onResult(msg session.Result) tea.Cmd {
	switch m := msg.(type) {
	case session.Events:
		return tea.Batch(a.session().Listen, a.apply(m.Events))
	case session.SeenChanged:
		a.store.Merge(m.Seen())
		return a.session().AwaitSeen
	case session.Lost:
		return a.connection.Lose(m, a.now)
	case session.Created:
		return a.onCreated(m)
	case session.Deleted:
		return a.onDeleted(m)
	case session.Extended:
		a.onExtended(m)
	case session.Opened:
		a.onOpened(m)
		return session.FreeMemory(m.Message)
	case session.TextsRead:
		for _, t := range m.Texts {
			a.store.SetText(t.Key, t.Text, t.Findings)
		}
		a.store.EndTexts()
	case session.RawFetched:
		a.onRaw(m)
		return session.FreeMemory(m.Message)
	case session.Read:
		return a.onRead(m.Do, m.Err)
	}
	return nil
}

// goneOn is said instead of showing what was asked for before the user began to type or opened a dialog.
const goneOn = "Not shown, since you have gone on: try again"

// onRead does what was asked for, unless the user has gone on to something else.
func (a *app) onRead(do func() tea.Cmd, err error) tea.Cmd {
	switch {
	case err != nil:
		a.report(host.Done{Err: err})
	case a.busy():
		a.note(goneOn)
	default:
		return do()
	}
	return nil
}

// onCreated adds an inbox that was created or adopted and selects it, unless the user is busy. The messages
// of one that was created get the focus, too.
func (a *app) onCreated(m session.Created) tea.Cmd {
	if m.Err != nil {
		a.report(host.Done{Err: m.Err})
		return nil
	}
	a.store.Restore(m.Inbox.ID)
	a.put(m.Inbox)
	if a.busy() {
		a.updateLists()
	} else {
		a.selectInbox(m.Inbox.ID)
		if !m.Adopted {
			a.focus = theme.Messages
		}
	}
	switch {
	case m.Adopted:
		a.report(host.Done{Text: "added " + render.Clean(m.Inbox.Email), EndMatters: true})
	case m.Copy:
		return a.copyAddress(a.store.Inboxes[m.Inbox.ID])
	}
	return nil
}

// label sets the label of an inbox; an empty one removes it.
func (a *app) label(id, label string) tea.Cmd {
	i := a.store.Inboxes[id]
	if i == nil {
		return nil
	}
	i.Label = render.Clean(label)
	a.updateLists()
	return a.session().Label(i)
}

// deleteInboxes deletes inboxes one by one. What names them: an address, or how many.
func (a *app) deleteInboxes(ids []string, what string) tea.Cmd {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return a.store.Inboxes[id] == nil })
	if len(ids) > 0 {
		return a.request(a.session().Delete(ids, what))
	}
	a.footer.show(outcome{Done: host.Done{EndMatters: true}, note: func() string { return what + " is no longer on the list" }}, a.now)
	return nil
}

func (a *app) onDeleted(m session.Deleted) tea.Cmd {
	retry := "delete-message"
	switch {
	case m.Keys == nil:
		retry = "delete-inbox"
		if m.Err == nil {
			a.session().Watcher.Remove(m.ID)
			a.drop(m.ID)
		}
	case m.Err == nil:
		a.store.DropMessages(m.Keys...)
		a.updateLists()
	}
	if len(m.Rest) > 0 {
		return a.request(m.Next())
	}
	a.report(m.Outcome(a.table.keyFor(retry)))
	return nil
}

func (a *app) onExtended(m session.Extended) {
	if m.Err != nil {
		a.report(host.Done{Err: m.Err})
		return
	}
	a.put(m.Inbox)
	if i := a.store.Inboxes[m.Inbox.ID]; i != nil {
		a.report(host.Done{Text: i.Name() + " has " + theme.Remaining(i.Expires.Sub(a.now)) + " left"})
	}
}

// onOpened applies the result of opening or prefetching a message.
func (a *app) onOpened(m session.Opened) {
	a.store.SetFindings(m.Key, m.Findings)
	// A late prefetch must not replace a message that has its raw form by now.
	if cached := a.store.Opened.Get(m.Key); m.Message != nil && (cached == nil || cached.Raw == nil) {
		a.store.Opened.Put(m.Key, m.Message)
	}
	if len(a.target.from) > 0 && a.target.from[0].Key == m.Key {
		a.target.err = m.Err
	}
	switch {
	case m.Generation != a.reader.Generation: // another message has been opened since
	case m.Err != nil:
		a.reader.Err = errors.New(session.Explain(m.Err))
	default:
		a.reader.Show(m.Message)
	}
}

// onRaw applies the result of fetching the raw form of an open message.
func (a *app) onRaw(m session.RawFetched) {
	if errors.Is(m.Err, api.ErrUnsupported) {
		a.session().NoRaw = true
	}
	if m.Err == nil {
		a.store.Opened.Put(m.Key, m.Message)
	}
	switch {
	case !a.reader.Reads(m.Key) || a.reader.Opened == nil:
	case m.Err != nil:
		a.reader.FailRaw(m.Err)
	default:
		a.reader.Show(m.Message)
	}
}

// togglePause pauses or resumes watching the inbox.
func (a *app) togglePause() {
	i := a.inbox()
	i.Paused = !i.Paused
	a.session().Watcher.Pause(i.ID, i.Paused)
	a.noteEither(i.Paused, i.Name()+" is paused: "+a.table.keyFor("pause")+" resumes, "+a.table.keyFor("refresh")+" checks once", i.Name()+" is being watched again")
}

// refresh fetches the lists again, or retries the connection.
func (a *app) refresh() tea.Cmd {
	if a.reader.Err != nil && a.connection.Working() {
		a.reader.Close() // to be opened anew
		return nil
	}
	a.reader.Repaint()
	id := ""
	if i := a.inboxes.Inbox(); i != nil && !i.Gone(a.now) { // one that is gone is not followed
		id = i.ID
	}
	return a.request(a.connection.Refresh(id, len(a.store.Order), a.now))
}
