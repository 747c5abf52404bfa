package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"mayfly/internal/term"
	"mayfly/keys"
	"mayfly/render"
)

func (a *app) keyCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "key",
		Short: "Manage the API key stored for a service",
		Long: "Store the API key of a service in the keyring of the operating system, or in a file that only its owner can read. " +
			"Every profile with the base URL of that service uses this API key. The environment variable MAYFLY_API_KEY overrides both, for the service " +
			"named by MAYFLY_BASE_URL, MAYFLY_PROFILE or config.toml, or else by the command line, and for no other. " +
			"The local service needs no API key from you: it creates a new one at each start.",
		Example: `mayfly key set --base-url https://api.example
mayfly key set --profile work --file < key.txt
mayfly key status`,
	}, a.keySet(), a.keyStatus(), a.keyRemove())
}

// hostedEndpoint is the service to use. The local service is an error: it has no key to store.
func (a *app) hostedEndpoint() (endpoint, error) {
	p, err := a.endpoint()
	if err == nil && p.local() {
		err = &failure{statusUsage, errors.New("the local service needs no API key"), "name a service with --base-url or --profile"}
	}
	return p, err
}

func (a *app) keySet() *cobra.Command {
	var inFile bool
	cmd := &cobra.Command{
		Use:     "set",
		Short:   "Store an API key",
		Long:    "Store an API key. It is read from a prompt that does not show it, or from standard input if that is not a terminal.",
		Example: "mayfly key set --base-url https://api.example\nmayfly key set --profile work --file < key.txt",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.hostedEndpoint()
			if err != nil {
				return err
			}
			text, err := a.readKey(cmd.Context(), p)
			if err != nil {
				return err
			}
			where := keys.Keyring
			if inFile {
				where = keys.File
			}
			left, err := a.keys().Set(cmd.Context(), p.baseURL, text, where)
			switch {
			case errors.Is(err, keys.ErrNoKeyring):
				return withNext(err, "`mayfly key set --file` stores it in a file instead")
			case err != nil:
				return err
			case left != nil:
				fmt.Fprintln(a.env.Stderr, errorLine(left))
			}
			return a.printKey(cmd.Context(), p)
		},
	}
	cmd.Flags().BoolVar(&inFile, "file", false, "store it in a file with mode 0600 instead of the keyring")
	return cmd
}

// readKey reads a key at a prompt, or from the first line of stdin if that is not a terminal.
func (a *app) readKey(ctx context.Context, p endpoint) (string, error) {
	var text string
	var err error
	if term.Is(a.env.Stdin) {
		text, err = a.prompt(ctx, fmt.Sprintf("API key for %s: ", render.Clean(p.baseURL)))
	} else if text, err = bufio.NewReader(io.LimitReader(a.env.Stdin, 64<<10)).ReadString('\n'); errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		return "", err
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", &failure{statusUsage, errors.New("no API key was entered"), "type it at the prompt, or pipe it in"}
	}
	return text, nil
}

// prompt asks for a line. What is typed is not shown, not even what is typed before the question appears.
func (a *app) prompt(ctx context.Context, question string) (string, error) {
	defer a.changesTerminal()()
	typing, err := term.Raw(ctx, a.env.Stdin)
	if err != nil {
		return "", fmt.Errorf("preparing the terminal: %w", err)
	}
	defer typing.Close() // nothing is left to do about a terminal that refuses
	line := xterm.NewTerminal(struct {
		io.Reader
		io.Writer
	}{typing, a.env.Stderr}, "")
	typed, err := line.ReadPassword(question)
	if err != nil {
		fmt.Fprint(a.env.Stderr, "\r\n") // the question has no answer
	}
	if errors.Is(err, io.EOF) { // ctrl+c, ctrl+d
		return "", reportedError{statusSignalFloor + int(syscall.SIGINT)}
	}
	if err != nil {
		return "", fmt.Errorf("reading the key: %w", err)
	}
	return typed, nil
}

func (a *app) keyStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show which API key is used",
		Long: "Show the API key in use: its source and its last four characters; then those that it overrides, " +
			"and why a place where one may be stored cannot be read.",
		Example: "mayfly key status --profile work",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.endpoint()
			if err != nil {
				return err
			}
			if p.local() {
				_, err := fmt.Fprintf(a.env.Stdout, "local service\tno API key is needed; while it runs, %s has it for other clients\n", render.Clean(a.localOptions().EnvFile()))
				return err
			}
			return a.printKey(cmd.Context(), p)
		},
	}
}

// printKey prints the service, and of each of its keys the last characters, where it comes from and whether it is
// used. A place that cannot be read goes to stderr.
func (a *app) printKey(ctx context.Context, p endpoint) error {
	used, err := a.key(ctx, p)
	if err != nil {
		return err
	}
	var rows [][]string
	for key, err := range a.keys().Each(ctx, p.baseURL) {
		switch {
		case err == nil && key.Source == used.Source:
			rows = append(rows, []string{render.Clean(p.baseURL), ending(key), key.Source, "used"})
		case err == nil:
			rows = append(rows, []string{render.Clean(p.baseURL), ending(key), key.Source, "not used: " + used.Source + " overrides it"})
		case !errors.Is(err, keys.ErrNone):
			fmt.Fprintln(a.env.Stderr, errorLine(err))
		}
	}
	return a.table(a.env.Stdout, rows)
}

// ending is the end of a key as users see it, enough to recognise the key.
func ending(key keys.Key) string {
	if last := key.Secret.Last4(); last != "" {
		return "ends in " + render.Clean(last)
	}
	return "too short to show its end"
}

func (a *app) keyRemove() *cobra.Command {
	return &cobra.Command{
		Use:     "rm",
		Short:   "Remove the stored API key",
		Example: "mayfly key rm --profile work",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.hostedEndpoint()
			if err != nil {
				return err
			}
			err = a.keys().Remove(cmd.Context(), p.baseURL)
			if errors.Is(err, keys.ErrNone) {
				return &failure{statusNotFound, fmt.Errorf("no API key is stored for %s", render.Clean(p.baseURL)), ""}
			}
			return err
		},
	}
}
