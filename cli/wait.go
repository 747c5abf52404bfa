package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/message"
	"mayfly/render"
)

func (a *app) waitCommand() *cobra.Command {
	w := waitRun{app: a, timeout: duration(time.Minute), settle: duration(2 * time.Second)}
	cmd := &cobra.Command{
		Use:   "wait [INBOX]",
		Short: "Wait for a message and print it",
		Long: "Print the next message that matches, whether it has arrived already or not.\n\n" +
			"Nothing is printed twice: a message, its code (--code) and its link (--link) are each printed once. The first wait on an inbox " +
			"starts at the newest message; later waits continue from there, oldest first. So a second `mayfly wait --code` prints the next code, and " +
			"`mayfly wait --link` after it prints the link of the same message. What was printed is recorded in the state directory of this machine.\n\n" +
			"INBOX can be an address without an inbox if the service creates inboxes as mail arrives, as the local service does. " +
			"The exit status is 5 if nothing arrives in time, and stderr has the reason: what connected to SMTP, where mail went instead, what was printed before.\n\n" +
			"--none succeeds if nothing that matches arrives within the timeout, and --exactly N if no more than N do: it waits for N messages, then for " +
			"--settle. Otherwise the exit status is 1, and the extra message is printed.",
		Example: `mayfly wait --timeout 2m
CODE=$(mayfly wait "$ADDRESS" --code)
mayfly wait "$ADDRESS" --subject reset --link
mayfly wait "$ADDRESS" --count 3 --json | jq -r .message.subject
mayfly wait "$ADDRESS" --subject welcome --exactly 1
mayfly wait "$ADDRESS" --none
mayfly wait "$ADDRESS" --since 2m --link`,
		Args:              atMost(1),
		ValidArgsFunction: a.completeInbox,
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.none && !cmd.Flags().Changed("timeout") {
				w.timeout = duration(5 * time.Second)
			}
			err := w.check(cmd.Flags().Changed("exactly"))
			if err != nil {
				return err
			}
			if w.connection, err = a.connect(cmd.Context()); err != nil {
				return err
			}
			return a.cancelOnHangup(cmd.Context(), func(ctx context.Context) error { return w.run(ctx, argument(args, 0)) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&w.from, "from", "", "only messages from a sender whose name or address contains this `text`")
	flags.StringVar(&w.subject, "subject", "", "only messages whose subject contains this `text`")
	flags.StringVar(&w.body, "body", "", "only messages whose body contains this `text`")
	flags.IntVar(&w.count, "count", 1, "number of messages to wait for; each is printed as it arrives")
	flags.IntVar(&w.exactly, "exactly", 0, "`number` of messages to wait for; one more is an error")
	flags.Var(&w.settle, "settle", "how long to wait for one more, with --exactly")
	flags.BoolVar(&w.none, "none", false, "wait until the timeout, 5s by default, for nothing to arrive")
	flags.Var(&w.since, "since", "only messages that arrived since this `time`: 2m ago, or 2026-11-22T10:00:00Z")
	flags.BoolVar(&w.again, "again", false, "start at the newest message, printed before or not")
	flags.Var(&w.timeout, "timeout", "how long to wait; 0 waits until the inbox expires")
	groupFlags(flags, "which messages")
	flags.BoolVar(&w.code, "code", false, "print only the one-time code")
	flags.BoolVar(&w.link, "link", false, "print only the confirmation link")
	flags.BoolVar(&w.json, "json", false, "print each message on a line as JSON, with its code, link and checks")
	groupFlags(flags, "what to print")
	return cmd
}

// timeFlag is the value of a flag: a time, or how long ago it was.
type timeFlag struct {
	text string
	time time.Time
	ago  time.Duration // 0 for time
}

func (m *timeFlag) Set(s string) error {
	var err error
	m.text = s
	m.time, m.ago, err = watch.ParseMoment(s)
	if _, number := strconv.Atoi(s); err != nil || number == nil { // a number may well be meant as seconds since 1970
		return errors.New("must be an age such as 90s or 2h, or a time such as 2026-11-22T10:00:00Z")
	}
	return nil
}

func (m *timeFlag) String() string { return m.text }
func (m *timeFlag) Type() string   { return "time" }

// waitRun is one wait: its flags, then its state.
type waitRun struct {
	app                 *app
	from, subject, body string
	count, exactly      int
	settle              duration
	none                bool
	since               timeFlag
	again               bool
	timeout             duration
	code, link, json    bool

	*connection
	inbox      api.Inbox
	created    bool // the inbox was created since the run began
	unrecorded bool // the state directory cannot keep what is consumed

	fitting map[string]fit // messages to be taken, by ID
	printed int
	failure error  // that ended the wait when a message was to be printed
	stop    func() // ends the display of progress
}

// fit is a message that matches the filters.
type fit struct {
	message *message.Message
	value   string // the code or link, if one is asked for
}

func (w *waitRun) check(exactly bool) error {
	switch {
	case w.count < 1:
		return usagef("--count %d: must be at least 1", w.count)
	case exactly && w.exactly < 1:
		return usagef("--exactly %d: must be at least 1; use --none for no message", w.exactly)
	}
	w.count = max(w.count, w.exactly)
	return nil
}

func (w *waitRun) target() watch.Target {
	switch {
	case w.code:
		return watch.Code
	case w.link:
		return watch.Link
	}
	return watch.Message
}

// run waits for messages of the inbox that arg names.
func (w *waitRun) run(ctx context.Context, arg string) error {
	began := time.Now()
	bounded, cancel := w.within(ctx, w.timeout)
	defer cancel()
	err := w.find(bounded, arg)
	if err == nil {
		err = w.await(bounded)
	}
	if err == nil && w.exactly > 0 {
		if w.unrecorded {
			return errors.New("--exactly must record what was printed in the state directory, and cannot")
		}
		w.none, w.again = true, false
		bounded, cancel = w.within(ctx, w.settle)
		defer cancel()
		err = w.await(bounded)
	}
	if w.none {
		var failing *watch.FailingError
		switch {
		case err == nil:
			expected := "none was expected"
			if w.exactly > 0 {
				expected = fmt.Sprintf("%d expected", w.exactly)
			}
			return fmt.Errorf("%s arrived, but %s", w.what(), expected)
		case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &failing):
			return nil
		}
	}
	return w.explain(ctx, err, time.Since(began))
}

func (w *waitRun) within(ctx context.Context, timeout duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(timeout))
}

// find asks for the inbox, and waits for it where mail to its address creates it.
func (w *waitRun) find(ctx context.Context, arg string) error {
	w.inbox = api.Inbox{Email: cmp.Or(arg, "the newest inbox")}
	var inbox api.Inbox
	err := watch.Ask(ctx, func() (err error) {
		inbox, err = w.connection.inbox(ctx, arg)
		return err
	})
	if exitStatus(err) == statusNotFound && strings.Contains(arg, "@") && w.client.CatchesAll() {
		w.showProgress(ctx)
		inbox, w.created, err = watch.AwaitInbox(ctx, w.client, arg)
		w.stop()
	}
	if err == nil {
		w.inbox = inbox
	}
	return err
}

// await prints messages until there are enough.
func (w *waitRun) await(ctx context.Context) error {
	after := w.after(ctx)
	w.fitting = map[string]fit{}
	w.showProgress(ctx)
	defer func() { w.stop() }()
	_, err := watch.WaitForMessage(ctx, w.client, w.inbox.ID, after, watch.Match{
		From: w.from, Subject: w.subject, Fits: w.fits,
		Take: func(f watch.Found) bool { return w.take(ctx, f) },
	})
	if w.failure != nil {
		return w.failure
	}
	if errors.Is(err, context.DeadlineExceeded) && !w.none {
		// A message that arrives late is named by the next wait.
		_ = w.known.UpdateConsumed(context.WithoutCancel(ctx), w.inbox.ID, func(d *watch.Consumed) bool { d.InVain(w.client); return true }, func() bool { return true })
	}
	return err
}

func (w *waitRun) showProgress(ctx context.Context) {
	w.stop = w.app.progress(ctx, func() string { return "waiting for " + w.what() })
}

// after says which messages are considered.
func (w *waitRun) after(ctx context.Context) watch.Cursor {
	consumed, err := w.known.Consumed(ctx, w.inbox.ID)
	if w.unrecorded = err != nil; w.unrecorded && !w.again {
		fmt.Fprintf(w.app.env.Stderr, "mayfly: this may print a message that was printed before, as --again does: %s\n", render.Clean(err.Error()))
	}
	target := w.target()
	switch {
	case w.since.ago > 0:
		return consumed.Ago(target, w.since.ago)
	case w.since.text != "":
		return consumed.Since(target, w.since.time)
	case w.created:
		return consumed.Since(target, time.Time{})
	case w.again || w.unrecorded:
		return watch.Newest(w.count)
	}
	after := consumed.Cursor(target)
	if after.Newest > 0 {
		after.Newest = w.count
	}
	return after
}

func (w *waitRun) fits(object api.Message) bool {
	f, ok := fit{message: message.New(w.inbox.ID, object)}, true
	f.message.Rules = w.rules
	switch {
	case w.code:
		code, found := f.message.Mail().Code()
		f.value, ok = code.Value, found
	case w.link:
		link, found := f.message.Mail().Confirm()
		f.value, ok = link.URL, found
	}
	ok = ok && (w.body == "" || f.message.Contains(w.body))
	if ok {
		w.fitting[object.ID] = f
	}
	return ok
}

// take prints a message unless another process does, and reports whether the wait is over.
func (w *waitRun) take(ctx context.Context, f watch.Found) bool {
	w.stop()
	text, err := w.text(ctx, w.fitting[f.ID])
	delete(w.fitting, f.ID)
	if err != nil {
		w.failure = err
		return true
	}
	before := w.printed
	var missed time.Time // when a wait timed out
	if w.unrecorded {
		w.print(text)
	} else if err := w.known.UpdateConsumed(ctx, w.inbox.ID, func(d *watch.Consumed) bool {
		missed = d.Vain
		if w.again {
			d.Add(w.target(), f)
			return true
		}
		return d.Take(w.target(), f)
	}, func() bool { w.print(text); return w.failure == nil }); err != nil && w.printed > before {
		fmt.Fprintf(w.app.env.Stderr, "mayfly: another wait may print this again: %s\n", render.Clean(err.Error()))
	} else if err != nil {
		w.failure = err
	}
	if late := watch.Late(ctx, w.client, w.inbox.ID, f.Summary(), missed); late != "" && w.printed > before {
		fmt.Fprintf(w.app.env.Stderr, "mayfly: %s\n", late)
	}
	if w.failure != nil || w.printed == w.count || w.none {
		return true
	}
	w.showProgress(ctx)
	return false
}

func (w *waitRun) print(text []byte) {
	if _, w.failure = w.app.env.Stdout.Write(text); w.failure == nil {
		w.printed++
	}
}

// text is the code or the link, or else the message.
func (w *waitRun) text(ctx context.Context, f fit) ([]byte, error) {
	if (w.code || w.link) && !w.json {
		return []byte(render.Clean(f.value) + "\n"), nil
	}
	m, err := f.message.WithRaw(ctx, w.client)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	flags := viewFlags{view: "rich", width: unset, json: w.json}
	if w.printed > 0 && !w.json {
		text.WriteByte('\n')
	}
	err = flags.print(w.app, &text, m, flags.theme(ctx, w.app))
	return text.Bytes(), err
}

// what describes the messages for people.
func (w *waitRun) what() string {
	what := "mail to " + render.Clean(w.inbox.Email)
	switch {
	case w.code:
		what += " with a code"
	case w.link:
		what += " with a link"
	}
	for _, part := range [...]struct{ where, text string }{{"from", w.from}, {"subject", w.subject}, {"body", w.body}} {
		if part.text != "" {
			what += fmt.Sprintf(" (%s %q)", part.where, part.text)
		}
	}
	return what
}

func (w *waitRun) explain(ctx context.Context, err error, took time.Duration) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		missing := "no " + w.what()
		if w.printed > 0 {
			missing = fmt.Sprintf("only %d of %d: no more %s", w.printed, w.count, w.what())
		}
		return &failure{statusTimeout, fmt.Errorf("%s within %s", missing, w.timeout.text()), watch.Explain(ctx, w.client, watch.Vain{
			Address: w.inbox.Email, SMTP: w.app.smtp(w.connection), Took: took, Err: err, Again: "--again prints the newest",
		})}
	case errors.Is(err, watch.ErrGone):
		return notFoundf("`mayfly new` creates another", "%s expired or was deleted", render.Clean(w.inbox.Email))
	}
	return err
}
