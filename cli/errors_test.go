package cli

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/api/apitest"
)

// Each error is one line in the words of its reader.
func TestErrorsAreInPlainWords(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() }) // after the parallel tests
	store := filepath.Join(t.TempDir(), "store")
	serve := func(args ...string) []string {
		return append([]string{"serve", "--http", "127.0.0.1:0", "--smtp", "127.0.0.1:0", "--store", store}, args...)
	}
	environ := append(machine(t), "MAYFLY_API_KEY="+apitest.Key)
	for name, test := range map[string]struct {
		variable string
		args     []string
		status   int
		want     string
	}{
		"no service":     {"MAYFLY_BASE_URL=http://127.0.0.1:1", []string{"ls"}, statusError, "127.0.0.1:1 refused the connection; is the service running there?"},
		"no host":        {"MAYFLY_BASE_URL=https://nobody.invalid", []string{"new"}, statusError, "there is no host nobody.invalid"},
		"not TLS":        {"MAYFLY_BASE_URL=https://" + plainHTTP(t), []string{"ls"}, statusError, "does not speak TLS"},
		"no address":     {"MAYFLY_BASE_URL=api.example", []string{"ls"}, statusUsage, "must start with https://"},
		"a password":     {"MAYFLY_BASE_URL=https://ada:secret@api.example", []string{"key", "status"}, statusUsage, "must not contain a user or a password"},
		"plain HTTP":     {"MAYFLY_BASE_URL=http://api.example", []string{"ls"}, statusUsage, "use https; --insecure allows it"},
		"a number":       {"MAYFLY_SERVE_MAX_LONG_POLLS=many", serve(), statusUsage, `MAYFLY_SERVE_MAX_LONG_POLLS "many": want a number`},
		"a switch":       {"MAYFLY_SERVE_CATCH_ALL=perhaps", serve(), statusUsage, `MAYFLY_SERVE_CATCH_ALL "perhaps": want true or false`},
		"a taken port":   {"A=", serve("--http", taken.Addr().String()), statusError, "listening for HTTP at " + taken.Addr().String() + ": another process listens there"},
		"no such key":    {"A=", serve("--catch-all", "--catch-all-key", "key_x"), statusError, "there is no API key key_x to own the catch-all inboxes: `mayfly admin key list`"},
		"a webhook":      {"A=", serve("--webhook-url", "https://ada:secret@hooks.example", "--webhook-secret-file", store), statusUsage, "the URL for webhooks has a user in it"},
		"no database":    {"A=", []string{"admin", "key", "list", "--store", "postgres://u:secret@127.0.0.1:1/x"}, statusError, "connection refused; is PostgreSQL running there?"},
		"no such server": {"A=", []string{"admin", "key", "list", "--store", "postgres://u:secret@nobody.invalid/x"}, statusError, "the host nobody.invalid was not found"},
		"no command":     {"A=", []string{""}, statusUsage, "unknown command \"\" for `mayfly`; see `mayfly --help`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, append(environ[:len(environ):len(environ)], test.variable), "", test.args...)
			expectFailure(t, r, test.status, []string{test.want}, test.args)
			for _, noise := range []string{"dial", "tcp", "lookup", "strconv", "secret"} {
				if strings.Contains(r.stderr, noise) {
					t.Errorf("%q is in %q", noise, r.stderr)
				}
			}
		})
	}
}

// plainHTTP is the address of a service without TLS.
func plainHTTP(t *testing.T) string {
	return strings.TrimPrefix(newHarness(t, apitest.Options{}).url, "http://")
}
