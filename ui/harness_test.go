package ui

import (
	"cmp"
	"context"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/internal/config"
	"mayfly/internal/fortest"
	"mayfly/internal/registry"
	"mayfly/internal/term"
	"mayfly/keys"
	"mayfly/ui/host"
	"mayfly/ui/session"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// harness is the application with a service that speaks the contract, without a terminal. It runs
// in a bubble of testing/synctest: nothing waits for a clock.
type harness struct {
	t        *testing.T
	app      *app
	server   *apitest.Server
	registry *registry.Registry
	msgs     chan tea.Msg
	noting   sync.Mutex
	copied   []string // what went into the clipboard
	opened   []string // what was given to the system's opener
	opener   func() error
	noOpener error            // why nothing can open anything
	raw      []string         // sequences sent to the terminal
	targets  []session.Target // what was connected to
	smtp     string
	other    string // the base URL of the connections from now on, of another service
	cancel   context.CancelFunc
	drawn    string  // the frame after the last message, "" until it is drawn
	last     tea.Msg // the last message
}

// setting is what a harness begins with.
type setting struct {
	width, height int
	service       apitest.Options
	profile       colorprofile.Profile                       // true colour when zero
	background    color.Color                                // black when nil
	connect       func(h *harness) (*session.Service, error) // instead of the usual connection
	config        string                                     // config.toml
	profiles      []session.Profile
	before        func(h *harness) // prepares the service
	save          func(p session.Profile, key string, where keys.Place) error
	smtp          string
	start         session.Profile // what the program was started for
}

// note keeps what a command did; commands run side by side.
func (h *harness) note(list *[]string, what string) {
	h.noting.Lock()
	defer h.noting.Unlock()
	*list = append(*list, what)
}

// play runs a scene.
func play(t *testing.T, set setting, scene func(h *harness)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, set, dir)
		defer h.leave()
		h.settle()
		scene(h)
	})
}

func newHarness(t *testing.T, set setting, dir string) *harness {
	t.Helper()
	h := &harness{t: t, server: apitest.New(t, set.service), msgs: make(chan tea.Msg, 4096)}
	h.registry = registry.Open(filepath.Join(dir, "registry"), "test", "https://mail.example")
	if set.before != nil {
		set.before(h)
	}
	h.smtp = set.smtp
	if h.smtp == "" && set.start == (session.Profile{}) {
		set.start.BaseURL = "https://mail.example"
	}
	connection := func(_ context.Context, target session.Target) (*session.Service, error) {
		h.targets = append(h.targets, target)
		if set.connect != nil && target.Key == "" {
			return set.connect(h)
		}
		return h.connection(), nil
	}
	saving := func(_ context.Context, p session.Profile, key string, where keys.Place) error {
		if set.save == nil {
			return nil
		}
		return set.save(p, key, where)
	}
	cfg := config.Default()
	if set.config != "" {
		cfg = config.Parse("config.toml", []byte(set.config), DefaultKeys())
	}
	cfg.Browser.Command = cmp.Or(cfg.Browser.Command, "no-browser-in-tests")
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	h.app = newApp(ctx, Options{Services: session.Options{Start: set.start, Connect: connection, Profiles: set.profiles, SaveProfile: saving}, Config: cfg, ThemePath: filepath.Join(dir, "chosen.toml")}, h.machine(dir))
	h.send(tea.WindowSizeMsg{Width: max(set.width, 1), Height: max(set.height, 1)})
	h.send(tea.ColorProfileMsg{Profile: cmp.Or(set.profile, colorprofile.TrueColor)})
	h.send(tea.BackgroundColorMsg{Color: cmp.Or[color.Color](set.background, color.Black)})
	h.run(h.app.Init())
	return h
}

// machine is one that notes what is done to it.
func (h *harness) machine(dir string) *host.Host {
	return &host.Host{
		Clipboard: func(_ context.Context, _ term.Env, text string) ([]string, error) {
			h.note(&h.copied, text)
			return []string{"clipboard"}, nil
		},
		Opener: func(_ term.Env, target string) (term.Opener, error) {
			return term.Opener{Name: "xdg-open", Run: func() error {
				h.note(&h.opened, target)
				if h.opener == nil {
					return nil
				}
				return h.opener()
			}}, h.noOpener
		},
		Copies: &host.Copies{}, Downloads: filepath.Join(dir, "downloads"),
	}
}

// connection is the usual one.
func (h *harness) connection() *session.Service {
	client, err := api.New(cmp.Or(h.other, "https://mail.example"), apitest.Key, api.Options{Transport: h.server.Transport(), MaxWait: session.MaxWait})
	fortest.Must(h.t, err)
	return &session.Service{
		Client: client, Registry: h.registry, Name: "mail.example", Profile: "test", SMTP: smtpAt(h.smtp, ""), Local: h.smtp != "",
	}
}

func smtpAt(address, note string) func() (string, string) {
	return func() (string, string) { return address, note }
}

// onlyOnce connects as usual the first time, and from then on fails as again does.
func onlyOnce(again func() error) func(*harness) (*session.Service, error) {
	first := true
	return func(h *harness) (*session.Service, error) {
		if first {
			first = false
			return h.connection(), nil
		}
		return nil, again()
	}
}

func (h *harness) leave() {
	h.server.Close()
	h.cancel()
	if err := h.app.close(); err != nil {
		h.t.Error(err)
	}
	time.Sleep(30 * 24 * time.Hour) // the timers that run on run out
	synctest.Wait()
}

// run runs a command, and what it leads to comes back as messages.
func (h *harness) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				h.run(c)
			}
		default:
			h.msgs <- msg
		}
	}()
}

func (h *harness) send(msg tea.Msg) {
	h.t.Helper()
	if _, ok := msg.(tea.QuitMsg); ok {
		return
	}
	if raw, ok := msg.(tea.RawMsg); ok {
		h.raw = append(h.raw, fmt.Sprint(raw.Msg))
	}
	_, cmd := h.app.Update(msg)
	h.last, h.drawn = msg, ""
	h.run(cmd)
}

// frame draws the screen, once for each state, and holds every frame to its size.
func (h *harness) frame() string {
	h.t.Helper()
	if h.drawn != "" {
		return h.drawn
	}
	h.drawn = h.app.View().Content
	rows := strings.Split(h.drawn, "\n")
	if len(rows) != h.app.height {
		h.t.Fatalf("after %T: a frame of %d rows on a screen of %d", h.last, len(rows), h.app.height)
	}
	for y, r := range rows {
		if w := theme.Width(r); w != h.app.width {
			h.t.Fatalf("after %T: row %d is %d cells wide on a screen of %d: %q", h.last, y, w, h.app.width, r)
		}
	}
	return h.drawn
}

// settle lets everything happen that happens without time passing, and draws what comes of it.
func (h *harness) settle() {
	h.t.Helper()
	h.drain()
	h.frame()
}

func (h *harness) drain() {
	h.t.Helper()
	for {
		synctest.Wait()
		select {
		case msg := <-h.msgs:
			h.send(msg)
		default:
			return
		}
	}
}

// wait lets time pass. What happens meanwhile happens at its time, and is drawn unless a second has passed and nothing else.
func (h *harness) wait(d time.Duration) {
	h.t.Helper()
	h.settle()
	for end := time.After(d); ; {
		select {
		case msg := <-h.msgs:
			h.send(msg)
			h.drain()
			if _, ok := msg.(tickMsg); !ok {
				h.frame()
			}
		case <-end:
			h.settle()
			return
		}
	}
}

// press presses keys by their names, such as enter, esc or ctrl+p, and types other text.
func (h *harness) press(names ...string) {
	h.t.Helper()
	for _, k := range uitest.Keys(names...) {
		h.send(k)
		h.settle()
	}
}

// step presses keys, with spaces between their names, after which every text stands on the screen.
func (h *harness) step(keys string, texts ...string) {
	h.t.Helper()
	h.press(strings.Fields(keys)...)
	h.see(texts...)
}

// click clicks a cell.
func (h *harness) click(x, y int) {
	h.t.Helper()
	h.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	h.send(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
	h.settle()
}

// keyPress is the key of a name, such as x, enter or ctrl+p.
func keyPress(name string) tea.KeyPressMsg { return uitest.Keys(name)[0] }

// mail delivers a mail.
func (h *harness) mail(address string, m apitest.Mail) api.Message {
	h.t.Helper()
	msg, err := h.server.Deliver(address, m)
	fortest.Must(h.t, err)
	return msg
}

// inboxNamed makes an inbox beside the application, one that this machine knows.
func (h *harness) inboxNamed(name string, ttl time.Duration) api.Inbox {
	h.t.Helper()
	in, err := h.server.Create(name, ttl)
	fortest.Must(h.t, err)
	k := registry.FromAPI(in)
	fortest.Must(h.t, h.registry.Put(k))
	return in
}

// screen is the frame as cells.
func (h *harness) screen() uv.ScreenBuffer {
	buf := uv.NewScreenBuffer(h.app.width, h.app.height)
	uv.NewStyledString(h.frame()).Draw(buf, buf.Bounds())
	return buf
}

// text is the frame without styles, a string for each row.
func (h *harness) text() []string {
	buf := h.screen()
	rows := make([]string, h.app.height)
	for y := range rows {
		var b strings.Builder
		for x := 0; x < h.app.width; x++ {
			if c := buf.CellAt(x, y); c != nil && c.Width > 0 {
				b.WriteString(c.Content)
			}
		}
		rows[y] = strings.TrimRight(b.String(), " ")
	}
	return rows
}

// shows reports whether a text stands on one row of the screen.
func (h *harness) shows(text string) bool {
	return slices.ContainsFunc(h.text(), func(row string) bool { return strings.Contains(row, text) })
}

// see fails unless every text stands somewhere on the screen, on one row each.
func (h *harness) see(texts ...string) {
	h.t.Helper()
	for _, t := range texts {
		if !h.shows(t) {
			h.t.Fatalf("the screen does not say %q:\n%s", t, strings.Join(h.text(), "\n"))
		}
	}
}

// dontSee fails when one of the texts stands on the screen.
func (h *harness) dontSee(texts ...string) {
	h.t.Helper()
	if at := slices.IndexFunc(texts, h.shows); at >= 0 {
		h.t.Fatalf("the screen says %q:\n%s", texts[at], strings.Join(h.text(), "\n"))
	}
}

// selected fails unless the selected row of the pane that has focus holds the text.
func (h *harness) selected(text string) {
	h.t.Helper()
	var got string
	switch h.app.focus {
	case theme.Inboxes:
		got = h.app.inboxes.Selected()
		if i := h.app.inboxes.Inbox(); i != nil {
			got = i.Name() + " " + i.Email
		}
	case theme.Messages:
		if m := h.app.messages.Message(); m != nil {
			got = m.Sender + " " + m.Subject
		}
	default:
		if m := h.app.reader.Message; m != nil {
			got = m.Sender + " " + m.Subject
		}
	}
	if !strings.Contains(got, text) {
		h.t.Fatalf("%q is selected, want %q:\n%s", got, text, strings.Join(h.text(), "\n"))
	}
}
