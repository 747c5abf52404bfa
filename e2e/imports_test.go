package e2e

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the folders of the repository, from the top down. A folder stands for all packages in it,
// unless a folder within is listed too. A package imports what is on lower floors, and what is in its
// own folder.
var floors = [][]string{
	{"."},
	{"cli"},
	{"ui", "mcp", "mayflytest"},
	{"internal/browser"},
	{"internal/snapshot"},
	{"internal/local", "internal/message", "internal/manual"},
	{"internal/server", "service/storetest", "api/apitest"},
	{"service/providers"},
	{"service/rest", "service/smtp", "service/pop3", "service/ssh", "service/relay", "service/webhook", "service/pebble", "service/postgres"},
	{"service"},
	{"internal/registry"},
	{"internal/config", "internal/term", "keys", "api/watch"},
	{"render"},
	{"render/html/css", "render/lexicon"},
	{"render/doc"},
	{"api", "internal/mail", "internal/clean"},
	{"assets", "docs", "internal/address", "internal/ballast", "internal/sockets", "internal/files", "internal/near", "internal/diff", "internal/guard", "internal/systemd", "internal/fortest"},
	{"packaging/image", "packaging/clients"},
	{"packaging/modules"},
}

// boundaries forbid what the floors alone allow. A name of our own starts with "./"; one of ours or of
// another module stands for the packages in its folder too.
var boundaries = []struct {
	why     string
	from    []string
	never   []string
	through bool // nor through other packages of ours
}{
	{why: "the service is reached through api.Client only",
		from: []string{"ui", "mcp"}, never: []string{"./internal/server", "./service"}},
	{why: "server puts the service together",
		from: []string{"cli", "internal/local"}, never: []string{"./service/rest", "./service/smtp", "./service/pop3", "./service/providers", "./service/relay", "./service/webhook", "./service/pebble", "./service/postgres"}},
	{why: "the domain knows no protocol and no database",
		from: []string{"service"}, through: true,
		never: []string{"net/http", "net/smtp", "net/textproto", "database/sql", "github.com/emersion/go-smtp",
			"github.com/cockroachdb/pebble", "github.com/jackc/pgx", "./service/rest", "./service/smtp", "./service/pop3", "./service/relay", "./service/pebble", "./service/postgres"}},
	{why: "a store knows no protocol, and a protocol no store",
		from:  []string{"service/pebble", "service/postgres"},
		never: []string{"net/http", "net/smtp", "github.com/emersion/go-smtp", "./service/rest", "./service/smtp", "./service/pop3"}},
	{why: "a program that imports the API does not import the rest",
		from: []string{"api", "api/watch"}, never: []string{"./assets", "./internal/mail", "./internal/message", "./render"}, through: true},
	{why: "a test that needs mail does not need a terminal",
		from: []string{"mayflytest"}, never: []string{"./ui", "./mcp", "./internal/local", "./internal/term", "charm.land/bubbletea/v2"}, through: true},
	{why: "rendering has no way to the network",
		from: []string{"render"}, never: []string{"net", "net/http", "os/exec", "./api"}, through: true},
	{why: "a pane knows no other pane",
		from: []string{"ui/lists"}, never: []string{"./ui/reader", "./ui/session"}},
	{why: "a pane knows no other pane",
		from: []string{"ui/reader"}, never: []string{"./ui/lists", "./ui/session"}},
}

// meaningless are names of packages that say nothing about what is in them.
var meaningless = []string{"base", "common", "helper", "helpers", "misc", "shared", "types", "util", "utils"}

// TestImportsPointDownwards guards what CONTRIBUTING.md says about the house.
func TestImportsPointDownwards(t *testing.T) {
	t.Parallel()
	imports := importsByFolder(t)
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		if slices.Contains(meaningless, path.Base(from)) {
			t.Errorf("%s: a package is named for what is in it", from)
		}
		folder, floor := floorOf(from)
		if floor < 0 {
			t.Errorf("%s is on no floor: add it to the floors", from)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(imports[from])) {
			to, own := strings.CutPrefix(name, "./")
			if !own {
				continue
			}
			if toFolder, toFloor := floorOf(to); toFloor >= 0 && toFloor <= floor && toFolder != folder {
				t.Errorf("%s imports %s, which is not below it", from, to)
			}
			if strings.HasSuffix(to, "test") && !strings.HasSuffix(from, "test") {
				t.Errorf("%s imports %s, which is for tests", from, to)
			}
		}
		for _, b := range boundaries {
			if !slices.Contains(b.from, folder) && !slices.Contains(b.from, from) {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(reachable(imports, from, b.through))) {
				if slices.ContainsFunc(b.never, func(never string) bool {
					return name == never || strings.Contains(never, ".") && strings.HasPrefix(name, never+"/")
				}) {
					t.Errorf("%s depends on %s: %s", from, name, b.why)
				}
			}
		}
	}
}

// floorOf returns the folder that stands for a package and the number of its floor, -1 if it has none.
func floorOf(pkg string) (folder string, floor int) {
	for folder = pkg; ; folder = path.Dir(folder) {
		for i, folders := range floors {
			if slices.Contains(folders, folder) && (folder != "." || pkg == ".") {
				return folder, i
			}
		}
		if folder == "." {
			return "", -1
		}
	}
}

// reachable returns what a package imports, and with through what those of our own import in turn.
func reachable(imports map[string]map[string]bool, from string, through bool) map[string]bool {
	found := maps.Clone(imports[from])
	for queue := slices.Collect(maps.Keys(found)); through && len(queue) > 0; queue = queue[1:] {
		to, own := strings.CutPrefix(queue[0], "./")
		if !own {
			continue
		}
		for name := range imports[to] {
			if !found[name] {
				found[name] = true
				queue = append(queue, name)
			}
		}
	}
	return found
}

// importsByFolder returns what the packages of the repository import, on any system and without their
// tests.
func importsByFolder(t *testing.T) map[string]map[string]bool {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	module, _, _ := strings.Cut(strings.TrimPrefix(string(mod), "module "), "\n")
	imports := map[string]map[string]bool{}
	err = filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && name != ".." && (name[0] == '.' || name[0] == '_' || name == "testdata" || name == "node_modules" || name == "e2e") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		folder, err := filepath.Rel("..", filepath.Dir(file))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if imports[folder] == nil {
			imports[folder] = map[string]bool{}
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ok := strings.CutPrefix(name, module+"/"); ok {
				name = "./" + own
			}
			imports[folder][name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}
