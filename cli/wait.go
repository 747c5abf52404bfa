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

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/message"
	"mayfly/render"
)

func (a *app) waitCommand() *cobra.Command {
	w := waiting{app: a, timeout: duration(time.Minute)}
	cmd := &cobra.Command{
		Use:   "wait [INBOX]",
		Short: "Wait for a message and print it",
		Long: "Print the next message that matches, whether it is already there or still to arrive.\n\n" +
			"Nothing is printed twice: a message, its code (--code) and its link (--link) are each printed once. The first wait on an inbox " +
			"takes the newest message; later waits go on from there, oldest first. So a second `mayfly wait --code` prints the next code, and " +
			"`mayfly wait --link` after it prints the link of the same message. What was printed is remembered in the state folder of this machine.\n\n" +
			"INBOX can be an address without an inbox if the service creates inboxes as mail arrives, as the local service does. " +
			"The exit status is 5 if nothing arrives in time.",
		Example: `mayfly wait --timeout 2m
CODE=$(mayfly wait "$ADDRESS" --code)
mayfly wait "$ADDRESS" --subject reset --link
mayfly wait "$ADDRESS" --count 3 --json | jq -r .message.subject
mayfly wait "$ADDRESS" --since 2m --link`,
		Args:              atMost(1),
		ValidArgsFunction: a.completeInbox,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := w.check(); err != nil {
				return err
			}
			var err error
			if w.connection, err = a.connect(cmd.Context()); err != nil {
				return err
			}
			return a.whileRead(cmd.Context(), func(ctx context.Context) error { return w.run(ctx, argument(args, 0)) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&w.from, "from", "", "only messages from a sender whose name or address contains this `text`")
	flags.StringVar(&w.subject, "subject", "", "only messages whose subject contains this `text`")
	flags.StringVar(&w.body, "body", "", "only messages whose body contains this `text`")
	flags.IntVar(&w.count, "count", 1, "number of messages to wait for; each is printed as it comes")
	flags.Var(&w.since, "since", "only messages that arrived since this `time`: 2m ago, or 2026-11-22T10:00:00Z")
	flags.BoolVar(&w.again, "again", false, "begin with the newest message, printed before or not")
	flags.Var(&w.timeout, "timeout", "how long to wait; 0 waits as long as the inbox lives")
	groupFlags(flags, "which messages")
	flags.BoolVar(&w.code, "code", false, "print only the one-time code")
	flags.BoolVar(&w.link, "link", false, "print only the confirmation link")
	flags.BoolVar(&w.json, "json", false, "print each message on a line as JSON, with its code, link and checks")
	groupFlags(flags, "what to print")
	return cmd
}

// moment is the value of a flag: a time, or how long ago it was.
type moment struct {
	text string
	time time.Time
	ago  time.Duration // 0 for time
}

func (m *moment) Set(s string) error {
	var err error
	m.text = s
	m.time, m.ago, err = watch.ParseMoment(s)
	if _, number := strconv.Atoi(s); err != nil || number == nil { // a number may well be meant as seconds since 1970
		return errors.New("want how long ago, such as 90s or 2h, or a time such as 2026-11-22T10:00:00Z")
	}
	return nil
}

func (m *moment) String() string { return m.text }
func (m *moment) Type() string   { return "time" }

// waiting is one wait: its flags, then its state.
type waiting struct {
	app                 *app
	from, subject, body string
	count               int
	since               moment
	again               bool
	timeout             duration
	code, link, json    bool

	*connection
	inbox      api.Inbox
	created    bool // the inbox was made since the run began
	unrecorded bool // the state folder cannot keep what is delivered

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

func (w *waiting) check() error {
	switch {
	case w.code && w.link:
		return usagef("--code and --link cannot be combined")
	case w.again && w.since.text != "":
		return usagef("--again and --since cannot be combined")
	case w.count < 1:
		return usagef("--count %d: want at least 1", w.count)
	}
	return nil
}

func (w *waiting) target() watch.Target {
	switch {
	case w.code:
		return watch.Code
	case w.link:
		return watch.Link
	}
	return watch.Message
}

// run waits for messages of the inbox that arg names.
func (w *waiting) run(ctx context.Context, arg string) error {
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(w.timeout))
		defer cancel()
	}
	err := w.find(ctx, arg)
	if err == nil {
		err = w.await(ctx)
	}
	return w.explain(err)
}

// find asks for the inbox, and waits for it where mail to its address makes it.
func (w *waiting) find(ctx context.Context, arg string) error {
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
func (w *waiting) await(ctx context.Context) error {
	after := w.after()
	w.fitting = map[string]fit{}
	w.showProgress(ctx)
	defer func() { w.stop() }()
	_, err := watch.Await(ctx, w.client, w.inbox.ID, after, watch.Match{
		From: w.from, Subject: w.subject, Fits: w.fits,
		Take: func(f watch.Found) bool { return w.take(ctx, f) },
	})
	if w.failure != nil {
		return w.failure
	}
	return err
}

func (w *waiting) showProgress(ctx context.Context) {
	w.stop = w.app.progress(ctx, func() string { return "waiting for " + w.what() })
}

// after says which messages are considered.
func (w *waiting) after() watch.After {
	delivered, err := w.known.Delivered(w.inbox.ID)
	if w.unrecorded = err != nil; w.unrecorded && !w.again {
		fmt.Fprintf(w.app.env.Stderr, "mayfly: this may print what was printed before, as --again does: %s\n", render.Clean(err.Error()))
	}
	target := w.target()
	switch {
	case w.since.ago > 0:
		return delivered.Ago(target, w.since.ago)
	case w.since.text != "":
		return delivered.Since(target, w.since.time)
	case w.created:
		return delivered.Since(target, time.Time{})
	case w.again || w.unrecorded:
		return watch.Newest(w.count)
	}
	after := delivered.After(target)
	if after.Newest > 0 {
		after.Newest = w.count
	}
	return after
}

func (w *waiting) fits(object api.Message) bool {
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
func (w *waiting) take(ctx context.Context, f watch.Found) bool {
	w.stop()
	text, err := w.text(ctx, w.fitting[f.ID])
	delete(w.fitting, f.ID)
	if err != nil {
		w.failure = err
		return true
	}
	before := w.printed
	if w.unrecorded {
		w.print(text)
	} else if err := w.known.HandOver(ctx, w.inbox.ID, func(d *watch.Delivered) bool {
		if w.again {
			d.Add(w.target(), f)
		} else if !d.Take(w.target(), f) {
			return false
		}
		w.print(text)
		return w.failure == nil
	}); err != nil && w.printed > before {
		fmt.Fprintf(w.app.env.Stderr, "mayfly: another wait may print this again: %s\n", render.Clean(err.Error()))
	} else if err != nil {
		w.failure = err
	}
	if w.failure != nil || w.printed == w.count {
		return true
	}
	w.showProgress(ctx)
	return false
}

func (w *waiting) print(text []byte) {
	if _, w.failure = w.app.env.Stdout.Write(text); w.failure == nil {
		w.printed++
	}
}

// text is the code or the link, or else the message.
func (w *waiting) text(ctx context.Context, f fit) ([]byte, error) {
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
func (w *waiting) what() string {
	what := "mail to " + render.Clean(w.inbox.Email)
	switch {
	case w.code:
		what += " with a code"
	case w.link:
		what += " with a link"
	}
	return what
}

func (w *waiting) explain(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return w.timedOut(err)
	case errors.Is(err, watch.ErrGone):
		return notFoundf("`mayfly new` makes another", "%s is gone: deleted or expired", render.Clean(w.inbox.Email))
	}
	return err
}

func (w *waiting) timedOut(err error) error {
	var next []string
	if smtp := w.app.smtp(w.connection); smtp != "" {
		next = append(next, "it was expected at SMTP "+smtp)
	}
	var inVain *watch.InVainError
	var failing *watch.FailingError
	switch {
	case errors.As(err, &failing):
		next = append(next, "the service was failing: "+failing.Last.Error())
	case errors.As(err, &inVain):
		if len(inVain.Others) > 0 {
			next = append(next, "there is instead "+briefly(inVain.Others))
		}
		if len(inVain.Delivered) > 0 {
			next = append(next, "printed before was "+briefly(inVain.Delivered)+" (--again prints the newest)")
		}
		if len(inVain.Others)+len(inVain.Delivered)+w.printed == 0 {
			next = append(next, "no other mail is there")
		}
	}
	missing := "no " + w.what()
	if w.printed > 0 {
		missing = fmt.Sprintf("only %d of %d: no more %s", w.printed, w.count, w.what())
	}
	return &failure{statusTimeout, fmt.Errorf("%s within %s", missing, w.timeout.text()), strings.Join(next, "; ")}
}

// briefly names the first of some messages by their subjects and senders, and says how many more there are.
func briefly(list []api.Summary) string {
	const named = 3
	var names []string
	for _, s := range list[:min(named, len(list))] {
		names = append(names, fmt.Sprintf(`"%s" from %s`, ansi.Truncate(render.Clean(s.Subject), 60, "…"), message.Sender(s.FromName, s.From)))
	}
	if more := len(list) - named; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
