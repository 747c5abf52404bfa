package ui

import (
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
	"mayfly/registry"
	"mayfly/ui/cell"
	"mayfly/ui/config"
	"mayfly/ui/safecopy"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// stage is the application with a service that speaks the contract, without a terminal. It runs in a bubble of
// testing/synctest: nothing waits for a clock.
type stage struct {
	t        *testing.T
	app      *app
	server   *apitest.Server
	registry *registry.Registry
	msgs     chan tea.Msg
	noting   sync.Mutex
	copied   []string // what went into the clipboard
	opened   []string // what was given to the system's opener
	raw      []string // sequences sent to the terminal
	quit     bool
	// wrongKey connects with a key that the service does not know.
	wrongKey bool
	smtp     string
	cancel   context.CancelFunc
}

// setting is what a stage begins with.
type setting struct {
	width, height int
	service       apitest.Options
	profile       colorprofile.Profile // true colour when zero
	light         bool
	connect       func(s *stage) (*Connection, error) // instead of the usual connection
	config        string                              // config.toml
	before        func(s *stage)                      // prepares the service
	smtp          string
}

// note keeps what a command did; commands run side by side.
func (s *stage) note(list *[]string, what string) {
	s.noting.Lock()
	defer s.noting.Unlock()
	*list = append(*list, what)
}

// play runs a scene.
func play(t *testing.T, set setting, scene func(s *stage)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, set, dir)
		defer s.leave()
		s.settle()
		scene(s)
	})
}

func newStage(t *testing.T, set setting, dir string) *stage {
	t.Helper()
	s := &stage{t: t, server: apitest.New(set.service), msgs: make(chan tea.Msg, 4096)}
	s.registry = registry.Open(filepath.Join(dir, "registry"), "test", "https://mail.example")
	if set.before != nil {
		set.before(s)
	}
	s.smtp = set.smtp
	connection := func(context.Context, Target) (*Connection, error) {
		if set.connect != nil {
			return set.connect(s)
		}
		return s.connection(), nil
	}
	w := world{
		copy:   func(text string, _ clipboardEnv) string { s.note(&s.copied, text); return "clipboard" },
		open:   func(target string) error { s.note(&s.opened, target); return nil },
		copies: &safecopy.Copies{}, downloads: filepath.Join(dir, "downloads"), sessions: &sessions{},
	}
	cfg := config.Default()
	if set.config != "" {
		cfg = config.Parse("config.toml", []byte(set.config), usualKeys())
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.app = newApp(ctx, Options{Connect: connection}, cfg, w)
	profile := set.profile
	if profile == colorprofile.Unknown {
		profile = colorprofile.TrueColor
	}
	s.send(tea.WindowSizeMsg{Width: max(set.width, 1), Height: max(set.height, 1)})
	s.send(tea.ColorProfileMsg{Profile: profile})
	s.send(tea.BackgroundColorMsg{Color: shade(set.light)})
	s.run(s.app.connect(Target{}))
	s.run(s.app.complain())
	return s
}

// connection is the usual one.
func (s *stage) connection() *Connection {
	client := s.server.Client(api.Options{})
	if s.wrongKey {
		var err error
		if client, err = api.New("https://mail.example", "no-such-key-0123456789", api.Options{Transport: s.server.Transport()}); err != nil {
			s.t.Fatal(err)
		}
	}
	return &Connection{
		Client: client, Registry: s.registry, Name: "mail.example", Profile: "test", SMTPAddr: s.smtp, Embedded: s.smtp != "",
	}
}

func (s *stage) leave() {
	s.server.Close()
	s.cancel()
	if err := s.app.world.close(); err != nil {
		s.t.Error(err)
	}
	time.Sleep(30 * 24 * time.Hour) // the timers that run on run out
	synctest.Wait()
}

// run runs a command, and what it leads to comes back as messages.
func (s *stage) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				s.run(c)
			}
		default:
			s.msgs <- msg
		}
	}()
}

func (s *stage) send(msg tea.Msg) {
	s.t.Helper()
	if _, ok := msg.(tea.QuitMsg); ok {
		s.quit = true
		return
	}
	if raw, ok := msg.(tea.RawMsg); ok {
		s.raw = append(s.raw, fmt.Sprint(raw.Msg))
	}
	_, cmd := s.app.Update(msg)
	s.checkFrame(msg)
	s.run(cmd)
}

// checkFrame holds every frame to its size.
func (s *stage) checkFrame(after tea.Msg) {
	s.t.Helper()
	rows := strings.Split(s.app.View().Content, "\n")
	if len(rows) != s.app.height {
		s.t.Fatalf("after %T: a frame of %d rows on a screen of %d", after, len(rows), s.app.height)
	}
	for y, r := range rows {
		if w := cell.Width(r); w != s.app.width {
			s.t.Fatalf("after %T: row %d is %d cells wide on a screen of %d: %q", after, y, w, s.app.width, r)
		}
	}
}

// settle lets everything happen that happens without time passing.
func (s *stage) settle() {
	s.t.Helper()
	for {
		synctest.Wait()
		select {
		case msg := <-s.msgs:
			s.send(msg)
		default:
			return
		}
	}
}

// wait lets time pass.
func (s *stage) wait(d time.Duration) {
	s.t.Helper()
	const step = 25 * time.Millisecond
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(step, time.Until(end)))
		s.settle()
	}
}

// press presses keys: letters, or names such as enter, esc, ctrl+p.
func (s *stage) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		s.send(keyPress(k))
		s.settle()
	}
}

// write types text.
func (s *stage) write(text string) {
	s.t.Helper()
	for _, r := range text {
		s.press(string(r))
	}
}

// click clicks a cell.
func (s *stage) click(x, y int) {
	s.t.Helper()
	s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	s.send(tea.MouseReleaseMsg{X: x, Y: y, Button: tea.MouseLeft})
	s.settle()
}

var keyCodes = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEsc}, "tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "space": {Code: tea.KeySpace, Text: " "}, " ": {Code: tea.KeySpace, Text: " "},
}

func keyPress(name string) tea.KeyPressMsg {
	if k, ok := keyCodes[name]; ok {
		return k
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// mail delivers a mail.
func (s *stage) mail(address string, m apitest.Mail) api.Message {
	s.t.Helper()
	msg, err := s.server.Deliver(address, m)
	if err != nil {
		s.t.Fatal(err)
	}
	return msg
}

// inboxNamed makes an inbox beside the application, one that this machine knows.
func (s *stage) inboxNamed(name string, ttl time.Duration) api.Inbox {
	s.t.Helper()
	in, err := s.server.Create(name, ttl)
	if err != nil {
		s.t.Fatal(err)
	}
	k := registry.Inbox{ID: in.ID, Email: in.Email, CreatedAt: in.CreatedAt, ExpiresAt: in.ExpiresAt}
	if err := s.registry.Put(k); err != nil {
		s.t.Fatal(err)
	}
	return in
}

// screen is the frame as cells.
func (s *stage) screen() uv.ScreenBuffer {
	buf := uv.NewScreenBuffer(s.app.width, s.app.height)
	uv.NewStyledString(s.app.View().Content).Draw(buf, buf.Bounds())
	return buf
}

// text is the frame without styles, a string for each row.
func (s *stage) text() []string {
	buf := s.screen()
	rows := make([]string, s.app.height)
	for y := range rows {
		var b strings.Builder
		for x := 0; x < s.app.width; x++ {
			if c := buf.CellAt(x, y); c != nil && c.Width > 0 {
				b.WriteString(c.Content)
			}
		}
		rows[y] = strings.TrimRight(b.String(), " ")
	}
	return rows
}

// see fails unless every text stands somewhere on the screen, on one row each.
func (s *stage) see(texts ...string) {
	s.t.Helper()
	rows := s.text()
	for _, t := range texts {
		if !slices.ContainsFunc(rows, func(r string) bool { return strings.Contains(r, t) }) {
			s.t.Fatalf("the screen does not say %q:\n%s", t, strings.Join(rows, "\n"))
		}
	}
}

// dontSee fails when one of the texts stands on the screen.
func (s *stage) dontSee(texts ...string) {
	s.t.Helper()
	rows := s.text()
	for _, t := range texts {
		if slices.ContainsFunc(rows, func(r string) bool { return strings.Contains(r, t) }) {
			s.t.Fatalf("the screen says %q:\n%s", t, strings.Join(rows, "\n"))
		}
	}
}

// selected fails unless the selected row of the pane that has focus holds the text.
func (s *stage) selected(text string) {
	s.t.Helper()
	var got string
	switch s.app.focus {
	case paneInboxes:
		got = s.app.inboxes.list.Selected()
		if i := s.app.inboxes.selected(); i != nil {
			got = i.name() + " " + i.email
		}
	case paneMessages:
		if m := s.app.messages.selected(); m != nil {
			got = m.sender + " " + m.subject
		}
	default:
		if m := s.app.reader.message; m != nil {
			got = m.sender + " " + m.subject
		}
	}
	if !strings.Contains(got, text) {
		s.t.Fatalf("%q is selected, want %q:\n%s", got, text, strings.Join(s.text(), "\n"))
	}
}

// shade is a background.
func shade(light bool) color.Color {
	if light {
		return color.White
	}
	return color.Black
}
