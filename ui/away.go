package ui

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/ui/host"
	"mayfly/ui/session"
)

// Away is the terminal of a user who is not at this machine, as over SSH.
type Away struct {
	In       io.Reader
	Out      io.Writer
	Environ  []string // what describes it
	Size     tea.WindowSizeMsg
	Sizes    <-chan tea.WindowSizeMsg // later ones
	Location *time.Location           // of the user
}

// framesAway is how many frames a second a terminal elsewhere gets at most: a timer for each session runs as often.
const framesAway = 30

// options are those of a program in the terminal.
func (t *Away) options() []tea.ProgramOption {
	return []tea.ProgramOption{
		tea.WithInput(t.In), tea.WithOutput(t.Out), tea.WithEnvironment(t.Environ), tea.WithWindowSize(t.Size.Width, t.Size.Height),
		tea.WithColorProfile(colorprofile.Env(t.Environ)), tea.WithFPS(framesAway),
	}
}

// follow tells the program of other sizes until ctx ends.
func (t *Away) follow(ctx context.Context, p *tea.Program) {
	for {
		select {
		case size := <-t.Sizes:
			p.Send(size)
		case <-ctx.Done():
			return
		}
	}
}

// worksAway are the actions that need nothing but a terminal and the service. A new one is not among them until it is listed.
var worksAway = strings.Fields(`
	new-inbox new-inbox-with copy-address copy-code open-link attachments delete-inbox
	down up page-down page-up first last next-pane previous-pane pane-left pane-right open back next-unread
	filter search-all next-page search next-match previous-match clear-search
	delete-message show-source next-view zoom unfold hidden-text images view-rich view-text view-html view-headers view-raw view-checks
	link-hints release-message unread read-all compare follow autocopy copy-menu
	delete-messages extend-inbox mark mark-all pause label-inbox sort-inboxes add-inbox
	refresh sessions help manual palette theme mouse quit`)

// insteadAway says what to do instead of the other actions.
var insteadAway = map[string]string{
	"send-sample":  "Not over SSH: `ssh HOST sendmail` sends a message",
	"save-message": "Not over SSH: `ssh HOST save - | tar x` saves it on your machine",
	"browser":      "Not over SSH: `ssh HOST save - | tar x` saves it on your machine",
	"view-web":     "Not over SSH: no browser renders for it",
	"web-phone":    "Not over SSH: no browser renders for it",
	"web-dark":     "Not over SSH: no browser renders for it",
	"pipe":         "Not over SSH: `ssh HOST read --view raw | COMMAND` runs it on your machine",
	"edit":         "Not over SSH: `ssh HOST read --view raw` prints it",
	"connect":      "Not over SSH: this is the service that you are logged in to",
	"profiles":     "Not over SSH: this is the service that you are logged in to",
	"suspend":      "Not over SSH: ~ ctrl+z suspends ssh",
}

// restrictAway makes the actions unavailable that need more than a terminal, and says why.
func restrictAway(actions []*action) {
	for _, c := range actions {
		if slices.Contains(worksAway, c.ID) {
			continue
		}
		reason := insteadAway[c.ID]
		if reason == "" {
			reason = "Not over SSH"
		}
		c.DisabledReason, c.Hint, c.HintNow = func() string { return reason }, "", nil
	}
}

// tickInterval is how often the screen is drawn again. Elsewhere, where one process draws for many, it is seldom while the screen
// tells minutes only.
func (a *app) tickInterval() time.Duration {
	seconds := a.footer.showing(a.now) || a.connection.Trouble() != session.NoTrouble || !a.host.Away
	for _, id := range a.store.Order {
		if in := a.store.Inboxes[id]; in != nil && !in.Expires.IsZero() && in.Expires.Sub(a.serviceNow()) < 2*time.Minute {
			seconds = true
		}
	}
	if seconds {
		return time.Second
	}
	return tickAway
}

const tickAway = 5 * time.Second

// ShareProcess makes this process one with the applications of many users.
func ShareProcess() { host.Shared.Store(true) }
