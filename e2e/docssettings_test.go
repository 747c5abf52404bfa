//go:build unix

package e2e

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestDocsSettings holds the table of docs/config.md to the flags of `mayfly serve`, and starts it with the files of the pages.
func TestDocsSettings(t *testing.T) {
	t.Parallel()
	m := newMachine(t).with("MAYFLY_SERVE_HTTP=127.0.0.1:0", "MAYFLY_SERVE_SMTP=127.0.0.1:0")
	_, table, _ := strings.Cut(page(t, "config.md"), "\n## Settings of serve\n")
	flags := func(text, pattern string) (found []string) {
		for _, flag := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, flag[1])
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	help, _, _ := strings.Cut(m.mustRun("serve", "--help"), "\nEXAMPLES\n")
	has, is := flags(table, "(?:\\| |, )`(--[a-z0-9-]+)"), flags(help, `(?m)^  (--[a-z0-9-]+)`)
	if !slices.Equal(has, is) {
		t.Errorf("docs/config.md has %q, `mayfly serve --help` %q", has, is)
	}
	for _, file := range []string{"config.md", "mx.md"} {
		text := strings.ReplaceAll(examples(t, file, "toml")[0], "/var/lib/mayfly", t.TempDir())
		m.startServer(m.command("serve", "--config", m.write(file+".toml", text)), "").stop(syscall.SIGTERM)
	}
}

// TestDocsJSON holds the objects in the pages to those that the commands print.
func TestDocsJSON(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	out := p.exec(`mayfly exec --env SMTP_ADDR={smtp} -- sh -euc '
		mayfly new --username ada --json
		mayfly watch --json >watched &
		until ./sign-up ada@mayfly.test && grep -q arrived watched; do sleep 0.1; done
		kill $!
		cat watched
		for command in ls messages read version; do mayfly $command --json; done
	' 2>&1
	mkdir store && mayfly admin key create --plan dev --store store
	mayfly admin key list --json --store store`)
	for _, file := range []string{"json.md", "api.md"} {
		for _, example := range examples(t, file, "json") {
			var object map[string]any
			if err := json.Unmarshal([]byte(example), &object); err != nil {
				t.Errorf("%s: %v in %s", file, err, example)
			}
			for _, name := range regexp.MustCompile(`"(\w+)": `).FindAllStringSubmatch(example, -1) {
				if !strings.Contains(out, `"`+name[1]+`":`) && !slices.Contains(mayBeLeftOut, name[1]) {
					t.Errorf("%s names %q, which no command printed: %s", file, name[1], out)
				}
			}
		}
	}
}

// mayBeLeftOut are fields that a build, a key that was never used, and a request without an error do not have.
var mayBeLeftOut = []string{"commit", "date", "used_at", "error", "code"}
