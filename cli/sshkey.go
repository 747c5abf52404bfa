package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mayfly/internal/files"
	"mayfly/internal/server"
	"mayfly/render"
	"mayfly/service"
)

// publicKeys returns the public keys in files such as id_ed25519.pub or authorized_keys.
func publicKeys(names []string) (keys []server.SSHKey, err error) {
	for _, name := range names {
		text, err := files.ReadNamed(name, 1<<20)
		if err != nil {
			return nil, fmt.Errorf("reading the public key: %w", err)
		}
		before := len(keys)
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			key, err := server.ParseSSHKey(line)
			if err != nil {
				return nil, usagef("%s: %w", name, err)
			}
			keys = append(keys, key)
		}
		if len(keys) == before {
			return nil, usagef("%s has no public key", name)
		}
	}
	return keys, nil
}

func addSSHKeys(ctx context.Context, admin *server.Admin, keyID string, keys []server.SSHKey) error {
	for _, k := range keys {
		if _, err := admin.AddSSHKey(ctx, keyID, k); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) adminSSHKey(store *string) *cobra.Command {
	add := &cobra.Command{
		Use:   "add KEY FILE...",
		Short: "Let the owners of public keys use an API key over SSH",
		Long: "Let the owners of public keys use an API key, named by its ID or its name, over SSH. FILE is a file such as id_ed25519.pub. " +
			"A public key belongs to one API key; several can belong to the same one, and share its inboxes.",
		Example: "mayfly admin key ssh-key add ci ada.pub grace.pub",
		Args:    cobra.MinimumNArgs(2),
		RunE: a.administerExisting(store, func(ctx context.Context, admin *server.Admin, args []string) error {
			public, err := publicKeys(args[1:])
			if err != nil {
				return err
			}
			key, err := keyNamed(ctx, admin, args[0])
			if err != nil {
				return err
			}
			return addSSHKeys(ctx, admin, key.ID, public)
		}),
	}
	var asJSON bool
	ls := &cobra.Command{
		Use:     "list",
		Short:   "List the SSH public keys",
		Long:    "List the SSH public keys, oldest first: fingerprint, ID of the API key, time, and comment, separated by tabs in a pipe.",
		Example: "mayfly admin key ssh-key list",
		Args:    noArgs,
		RunE: a.administerExisting(store, func(ctx context.Context, admin *server.Admin, _ []string) error {
			keys, err := admin.SSHKeys(ctx)
			if err != nil {
				return err
			}
			return list(a, keys, asJSON, func(k server.SSHKey) []string {
				return []string{k.Fingerprint, k.KeyID, k.CreatedAt.UTC().Format("2006-01-02T15:04:05Z"), render.Clean(k.Comment)}
			})
		}),
	}
	ls.Flags().BoolVar(&asJSON, "json", false, "print each key on a line as JSON")
	rm := &cobra.Command{
		Use:     "rm FINGERPRINT...",
		Short:   "Remove SSH public keys",
		Long:    "Remove SSH public keys. Their sessions are closed within ten seconds.",
		Example: "mayfly admin key ssh-key rm SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
		Args:    cobra.MinimumNArgs(1),
		RunE: a.administerExisting(store, func(ctx context.Context, admin *server.Admin, args []string) error {
			var errs []error
			for _, fingerprint := range args {
				err := admin.RemoveSSHKey(ctx, fingerprint)
				if service.ErrorCode(err) == service.NotFound {
					err = notFoundf("`mayfly admin key ssh-key list` lists them", "no public key %s", render.Clean(fingerprint))
				}
				errs = append(errs, err)
			}
			return errors.Join(errs...)
		}),
	}
	return group(&cobra.Command{Use: "ssh-key", Short: "SSH public keys of API keys", Example: "mayfly admin key ssh-key list"}, add, ls, rm)
}
