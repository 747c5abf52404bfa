package ui

import (
	"context"
	"log/slog"

	"mayfly/api"
	"mayfly/registry"
)

// Options is what the application is started with.
type Options struct {
	// Connect makes the connection. It is called beside the first frame, and again when the user
	// connects to something else or tries again. An error that is keys.ErrNone leads to the dialog
	// that asks for a key.
	Connect func(ctx context.Context, t Target) (*Connection, error)
	// Profiles are the services to switch between.
	Profiles []Profile
	// SaveProfile keeps a profile, and its key in the keyring; nil where that is not possible.
	SaveProfile func(ctx context.Context, p Profile, key string) error

	ConfigPath string       // config.toml; it need not exist
	Log        *slog.Logger // nil for none; gets no keys and no bodies
	LogPath    string       // where Log writes, for people; empty when nothing is logged
	CrashPath  string       // file for what is known about a panic
	NoColor    bool         // as NO_COLOR: no colours, whatever the terminal can do
}

// Profile names a service. The one without a base URL is the embedded service.
type Profile struct{ Name, BaseURL string }

// Target is what to connect to; the zero Target is what the program was started for.
type Target struct {
	Profile, BaseURL string
	Key              string // typed by the user; otherwise the key is looked up
}

// Connection is access to a service.
type Connection struct {
	Client   *api.Client
	Registry *registry.Registry
	Name     string // for people: "local" or a host
	Profile  string
	SMTPAddr string // host:port that takes mail for the inboxes; empty when not known
	Embedded bool
	Close    func(context.Context) error // may be nil
	// Done is closed when the service is gone for good, as the embedded one is when the process that
	// owns it ends; connecting again makes another. Nil where that does not happen.
	Done <-chan struct{}
}
