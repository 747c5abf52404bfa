package cli

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mayfly/internal/message"
	"mayfly/internal/server"
	"mayfly/internal/term"
	"mayfly/render"
	"mayfly/service"
)

func (a *app) adminCommand() *cobra.Command {
	var store string
	cmd := group(&cobra.Command{
		Use:   "admin",
		Short: "Administer the store of a service",
		Long:  "Administer the store of a service, whether or not the service is running. If a service has the directory open, it carries out the command; a database is accessed directly.",
	}, a.adminKeyCommand(&store), a.adminPostmasterCommand(&store), a.adminBackupCommand(&store), a.adminRestoreCommand(&store))
	a.storeFlag(cmd.PersistentFlags(), &store)
	return cmd
}

func (a *app) adminKeyCommand(store *string) *cobra.Command {
	return group(&cobra.Command{
		Use:   "key",
		Short: "Create, list, change and revoke API keys",
		Example: `KEY=$(mayfly admin key create --plan dev --name ci)
mayfly admin key list
mayfly admin key revoke key_01`,
	}, a.adminKeyCreate(store), a.adminKeyList(store), a.adminKeyRevoke(store), a.adminKeyRotate(store), a.adminKeyPlan(store), a.adminSSHKey(store))
}

// administer opens the store while work runs.
func (a *app) administer(ctx context.Context, store string, work func(*server.Admin) error) error {
	admin, err := server.OpenAdmin(ctx, store, slog.New(slog.NewTextHandler(a.env.Stderr, nil)))
	if err != nil {
		return err
	}
	err = work(admin)
	if cerr := admin.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("closing the store: %w", cerr)
	}
	switch service.ErrorCode(err) {
	case service.NotFound:
		return notFoundf("`mayfly admin key list` lists them", "no such API key in %s", server.StoreName(store))
	case service.Invalid:
		return &failure{status: statusUsage, err: err}
	}
	return err
}

// administerExisting runs a command that administers a store, which has to exist: a mistyped path must
// not create one.
func (a *app) administerExisting(store *string, work func(ctx context.Context, admin *server.Admin, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if !server.IsStore(*store) {
			return notFoundf("name another with --store; `mayfly serve` creates one", "there is no store in %s", render.Clean(*store))
		}
		return a.administer(cmd.Context(), *store, func(admin *server.Admin) error { return work(cmd.Context(), admin, args) })
	}
}

var plans = []cobra.Completion{"free", "dev", "startup", "enterprise"}

func (a *app) adminKeyCreate(store *string) *cobra.Command {
	var name, plan, secretFile string
	var sshFiles []string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create an API key and print it",
		Long: "Create an API key and print it. The API key is printed only once: the store has just a hash of it. Standard error has the address where an " +
			"application logs in with it to send mail over SMTP: all that mail belongs to this API key.\n\n" +
			"With --secret-file, read the API key from a file: 32 to 256 ASCII characters without spaces. If the store has it already, " +
			"with the same plan, nothing is changed: the command can be run at every start, even before the first start of the service, when it creates the store. Keep its output out of logs: it is the API key.",
		Example: `mayfly admin key create --plan dev --name ci
mayfly admin key create --plan dev --secret-file /run/secrets/mayfly > /dev/null`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if plan == "" {
				return usagef("--plan is required: free, dev, startup or enterprise")
			}
			secret := "" // a random one
			if cmd.Flags().Changed("secret-file") {
				if secretFile == "" {
					return usagef("--secret-file is empty")
				}
				var err error
				if secret, err = server.ReadKeyFile(secretFile); err != nil {
					return err
				}
			}
			public, err := publicKeys(sshFiles)
			if err != nil {
				return err
			}
			create := func(ctx context.Context, admin *server.Admin, _ []string) error {
				key, err := admin.CreateKey(ctx, name, plan, secret)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.env.Stderr, "mayfly: an application sends mail to this API key, whatever the address, over SMTP at %s, with any user name and the API key as password\n",
					cmp.Or(key.SMTP, "the service's --smtp"))
				if err = addSSHKeys(ctx, admin, key.ID, public); err != nil {
					err = fmt.Errorf("the API key %s was created, but cannot be used over SSH: %w", key.ID, err)
				}
				_, printed := fmt.Fprintln(a.env.Stdout, key.Secret)
				return cmp.Or(err, printed)
			}
			if secret != "" { // it prepares the store for a service that starts later
				return a.administer(cmd.Context(), *store, func(admin *server.Admin) error { return create(cmd.Context(), admin, nil) })
			}
			return a.administerExisting(store, create)(cmd, nil)
		},
	}
	choiceFlag(cmd, cmd.Flags(), &plan, "plan", "", "`plan` of the API key: free, dev, startup or enterprise", plans...)
	cmd.Flags().StringVar(&name, "name", "", "descriptive `name` for the API key")
	cmd.Flags().StringVar(&secretFile, "secret-file", "", "`file` with the API key to create")
	cmd.Flags().StringArrayVar(&sshFiles, "ssh-key", nil, "`file` with an SSH public key whose owner can use the API key over SSH; can be repeated")
	return cmd
}

func (a *app) adminKeyList(store *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the API keys",
		Long:    "List the API keys, oldest first: ID, plan, time of creation, state, name and about when it was last used, separated by tabs in a pipe.",
		Example: "mayfly admin key list",
		Args:    noArgs,
		RunE: a.administerExisting(store, func(ctx context.Context, admin *server.Admin, _ []string) error {
			keys, err := admin.Keys(ctx)
			if err != nil {
				return err
			}
			return list(a, keys, asJSON, func(k server.Key) []string {
				state := "active"
				if !k.RevokedAt.IsZero() {
					state = "revoked"
				}
				used := "never used"
				if !k.UsedAt.IsZero() {
					used = k.UsedAt.UTC().Format("2006-01-02T15:04:05Z")
				}
				return []string{k.ID, string(k.Plan), k.CreatedAt.UTC().Format("2006-01-02T15:04:05Z"), state, render.Clean(k.Name), used}
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each API key on a line as JSON")
	return cmd
}

// keyNamed returns the key with an ID, or with a name that no other has which is not revoked.
func keyNamed(ctx context.Context, admin *server.Admin, name string) (server.Key, error) {
	keys, err := admin.Keys(ctx)
	if err != nil {
		return server.Key{}, err
	}
	if i := slices.IndexFunc(keys, func(k server.Key) bool { return k.ID == name }); i >= 0 {
		return keys[i], nil
	}
	keys = slices.DeleteFunc(keys, func(k server.Key) bool { return k.Name != name || !k.RevokedAt.IsZero() })
	switch len(keys) {
	case 0:
		return server.Key{}, service.Errorf(service.NotFound, "no such key")
	case 1:
		return keys[0], nil
	}
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = k.ID
	}
	return server.Key{}, service.Errorf(service.Invalid, "%d keys are called %s: name one by its ID, %s", len(keys), render.Clean(name), strings.Join(ids, " or "))
}

func (a *app) adminKeyRevoke(store *string) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "revoke KEY",
		Short: "Revoke an API key at once",
		Long: "Revoke an API key at once, named by its ID or by a name that no other has. It asks before it revokes the API key that a service created " +
			"for itself, as the local service does: clients of that service get no access until it restarts. Without a terminal, that needs --yes.",
		Example: "mayfly admin key revoke key_01\nmayfly admin key revoke ci",
		Args:    exactly(1, "the ID or the name of an API key"),
		RunE: a.administerExisting(store, func(ctx context.Context, admin *server.Admin, args []string) error {
			key, err := keyNamed(ctx, admin, args[0])
			if err != nil {
				return err
			}
			if key.Name == server.OwnKeyName && key.RevokedAt.IsZero() && !yes {
				if !term.Is(a.env.Stdin) || !term.Is(a.env.Stderr) {
					return usagef("%s is the API key that the service uses itself: confirm with --yes", key.ID)
				}
				if sure, err := a.confirm(ctx, key.ID+" is the API key that the service uses itself. Revoke it?"); err != nil || !sure {
					return cmp.Or(err, error(reportedError{statusError}))
				}
			}
			_, err = admin.RevokeKey(ctx, key.ID)
			return err
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) adminKeyRotate(store *string) *cobra.Command {
	var keepOld duration
	cmd := &cobra.Command{
		Use:   "rotate KEY",
		Short: "Replace the secret of an API key and print it",
		Long: "Replace the secret of an API key and print the new one, only once. The old secret stops working at once, or after the time of --keep-old; " +
			"an older secret that still works stops in any case. The API key keeps its inboxes.",
		Example: "KEY=$(mayfly admin key rotate key_01)\nmayfly admin key rotate ci --keep-old 24h",
		Args:    exactly(1, "the ID or the name of an API key"),
		RunE: a.administerExisting(store, func(ctx context.Context, admin *server.Admin, args []string) error {
			old, err := keyNamed(ctx, admin, args[0])
			if err != nil {
				return err
			}
			key, err := admin.RotateKey(ctx, old.ID, time.Duration(keepOld))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.env.Stdout, key.Secret)
			return err
		}),
	}
	cmd.Flags().Var(&keepOld, "keep-old", "how long the old secret keeps working, such as 30m, 24h or 2d")
	return cmd
}

func (a *app) adminKeyPlan(store *string) *cobra.Command {
	return &cobra.Command{
		Use:               "plan KEY PLAN",
		Short:             "Change the plan of an API key",
		Long:              "Change the plan of an API key: free, dev, startup or enterprise. The change takes effect with the next request.",
		Example:           "mayfly admin key plan key_01 startup",
		Args:              exactly(2, "the ID or the name of an API key, and a plan"),
		ValidArgsFunction: cobra.FixedCompletions(plans, cobra.ShellCompDirectiveNoFileComp),
		RunE: a.administerExisting(store, func(ctx context.Context, admin *server.Admin, args []string) error {
			key, err := keyNamed(ctx, admin, args[0])
			if err == nil {
				_, err = admin.SetPlan(ctx, key.ID, args[1])
			}
			return err
		}),
	}
}

func (a *app) adminBackupCommand(store *string) *cobra.Command {
	return &cobra.Command{
		Use:     "backup DIR",
		Short:   "Copy the live store to a directory",
		Long:    "Copy the store, even while it is in use, to a new directory. `mayfly admin restore` restores it. Back up a database with pg_basebackup.",
		Example: "mayfly admin backup /backup/mayfly-today",
		Args:    exactly(1, "a directory"),
		RunE: a.administerExisting(store, func(ctx context.Context, admin *server.Admin, args []string) error {
			return admin.Backup(ctx, args[0])
		}),
	}
}

func (a *app) adminRestoreCommand(store *string) *cobra.Command {
	return &cobra.Command{
		Use:     "restore BACKUP",
		Short:   "Restore a store from a backup",
		Long:    "Restore a store from a backup. The store's directory must be empty or missing, and no service may be running on it.",
		Example: "mayfly admin restore /backup/mayfly-today --store /var/lib/mayfly",
		Args:    exactly(1, "the directory of a backup"),
		RunE:    func(cmd *cobra.Command, args []string) error { return server.Restore(cmd.Context(), args[0], *store) },
	}
}

func (a *app) adminPostmasterCommand(store *string) *cobra.Command {
	var f *viewFlags
	cmd := &cobra.Command{
		Use:   "postmaster [MESSAGE]",
		Short: "List the mail for the postmaster, or show one",
		Long: "List the mail addressed to the postmaster of the service's domains, newest first: ID, time, sender and subject, separated by tabs in a pipe. " +
			"With an ID, show that message. Each is stored for 14 days. With --catch-all this mail belongs to the catch-all API key.",
		Example: `mayfly admin postmaster
mayfly admin postmaster msg_01 --view raw > report.eml`,
		Args: atMost(1),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if flags := cmd.Flags(); len(args) == 0 && (flags.Changed("view") || flags.Changed("width")) {
				return usagef("--view and --width need the ID of a message")
			}
			return f.check(cmd)
		},
		RunE: a.administerExisting(store, func(ctx context.Context, admin *server.Admin, args []string) error {
			if len(args) == 0 {
				mail, err := admin.Postmaster(ctx)
				if err != nil {
					return err
				}
				return list(a, mail, f.json, func(m server.PostmasterMessage) []string {
					return []string{m.ID, m.ReceivedAt.UTC().Format("2006-01-02T15:04:05Z"), render.Clean(m.From), render.Clean(m.Subject)}
				})
			}
			raw, err := admin.PostmasterRaw(ctx, args[0])
			if service.ErrorCode(err) == service.NotFound {
				return notFoundf("`mayfly admin postmaster` lists them", "no such message for the postmaster")
			}
			if err != nil {
				return err
			}
			return f.show(ctx, a, message.File(args[0], "eml", string(raw)))
		}),
	}
	f = a.viewFlags(cmd)
	return cmd
}
