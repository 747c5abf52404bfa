package cli

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mayfly/internal/manual"
)

func TestHelpShowsAPage(t *testing.T) {
	for _, topic := range manual.Topics() {
		r := run(t, machine(t), "", "help", topic.Name)
		if r.status != 0 || r.stderr != "" || !strings.HasPrefix(r.stdout, strings.ToUpper(topic.Title)+"\n\n  "+topic.Summary[:20]) {
			t.Errorf("%s: status %d: %.200q, %q", topic.Name, r.status, r.stdout, r.stderr)
		}
	}
	for color, want := range map[string]bool{"COLORTERM=truecolor": true, "NO_COLOR=1": false} {
		r := run(t, append(machine(t), "TERM=xterm-256color", color), "", "help", "ci", "--color", "always")
		if strings.Contains(r.stdout, "\x1b[") != want {
			t.Errorf("%s: colours: %t in %.200q", color, !want, r.stdout)
		}
	}
}

func TestHelpShowsACommand(t *testing.T) {
	for command, part := range map[string]string{"key set": "USAGE", "": "HELP TOPICS"} {
		r := run(t, machine(t), "", append([]string{"help"}, strings.Fields(command)...)...)
		if want := run(t, machine(t), "", append(strings.Fields(command), "--help")...); r != want || r.status != 0 || !strings.Contains(r.stdout, part) {
			t.Errorf("got %+v\nwant %+v", r, want)
		}
	}
}

func TestHelpSuggests(t *testing.T) {
	tests := map[string][]string{
		`unknown command or help topic "sacle"; did you mean scale or save?`:                           {"help", "sacle"},
		`unknown command or help topic "wiat"; did you mean wait?`:                                     {"help", "wiat"},
		`unknown command or help topic "nosuch"; the topics are api, chaos,`:                           {"help", "nosuch"},
		"unknown command \"sett\" for `mayfly key`; did you mean set?":                                 {"help", "key", "sett"},
		"unknown command \"wiat\" for `mayfly`; did you mean wait?\n":                                  {"wiat"},
		"unknown command \"config\" for `mayfly`; `mayfly help config` shows a page about it\n":        {"config"},
		"unknown command \"reed\" for `mayfly`; did you mean read?\n":                                  {"reed"},
		"unknown command \"mesages\" for `mayfly`; did you mean messages?":                             {"mesages"},
		"unknown command \"crate\" for `mayfly admin key`; did you mean create?":                       {"admin", "key", "crate"},
		"unknown command \"fih\" for `mayfly completion`; did you mean fish?":                          {"completion", "fih"},
		`unknown command or help topic "reed"; did you mean read?`:                                     {"man", "reed"},
		"unknown flag --cod; did you mean --code?\n":                                                   {"wait", "--cod"},
		"unknown flag --name; did you mean --username?\n":                                              {"new", "--name", "ada"},
		"unknown flag --lifetime; did you mean --ttl?\n":                                               {"new", "--lifetime=1h"},
		"unknown flag --user; see":                                                                     {"wait", "--user", "ada"},
		"unknown flag --jsno; did you mean --json?":                                                    {"wait", "--jsno"},
		"unknown flag -json; did you mean --json?":                                                     {"ls", "-json"},
		"unknown command \"reed\" for `mayfly`; did you mean read?":                                    {"reed", "--help"},
		"--plan \"x\": must be free, dev, startup or enterprise; see `mayfly admin key create --help`": {"admin", "key", "create", "--plan", "x", "--store", "/nowhere"},
		"unknown flag -x; see `mayfly --help`":                                                         {"-x"},
		"unknown flag --nonsense; see `mayfly --help`":                                                 {"--nonsense"},
		"--profile NAME needs a value; see `mayfly ls --help`":                                         {"ls", "--profile"},
		`--max-errors "x": must be an integer; see`:                                                    {"serve", "--max-errors", "x"},
		`--insecure "x": must be true or false; see`:                                                   {"ls", "--insecure=x"},
		`--ttl "x": must be a duration such as 90, 30m, 1h30m or 2d; see`:                              {"new", "--ttl", "x"},
		"`mayfly completion` needs one of bash, zsh, fish, powershell":                                 {"completion"},
	}
	for want, args := range tests {
		if r := run(t, machine(t), "", args...); r.status != 2 || r.stdout != "" || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: status %d, %q, %q", args, r.status, r.stdout, r.stderr)
		}
	}
}

// A topic may have the name of a command only if it is about that command, and says where its help is.
func TestATopicWithTheNameOfACommandPointsToItsHelp(t *testing.T) {
	for _, topic := range manual.Topics() {
		cmd, rest, err := (&app{}).root().Find([]string{topic.Name})
		if err != nil || len(rest) > 0 {
			continue
		}
		if r := run(t, machine(t), "", "help", topic.Name); !strings.Contains(r.stdout, "mayfly "+cmd.Name()+" --help") {
			t.Errorf("%s is a topic and a command; the topic is %s", cmd.Name(), r.stdout)
		}
		if r := run(t, machine(t), "", "__complete", "help", topic.Name); strings.Count(r.stdout, topic.Name+"\t") != 1 {
			t.Errorf("%s is completed as %s", topic.Name, r.stdout)
		}
	}
}

func TestHelpCompletes(t *testing.T) {
	for args, want := range map[string][]string{
		"s":     {"save\t", "serve\t", "scale\t", "service\t", "spring\t", "supabase\t"},
		"key s": {"set\t", "status\t"},
	} {
		words := strings.Split(args, " ")
		r := run(t, machine(t), "", append([]string{"__complete", "help"}, words...)...)
		for _, w := range want {
			if !strings.Contains(r.stdout, w) {
				t.Errorf("%q: no %q in %q", args, w, r.stdout)
			}
		}
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

// eachCommand calls f with every command that users see.
func eachCommand(f func(cmd *cobra.Command)) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		f(cmd)
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				visit(child)
			}
		}
	}
	visit((&app{}).root())
}

func TestHelpFitsTheTerminal(t *testing.T) {
	words := func(help string) []string {
		return slices.DeleteFunc(strings.Fields(help), func(word string) bool { return word == `\` || word == "#" })
	}
	eachCommand(func(cmd *cobra.Command) {
		whole := words(ansi.Strip(pageOf(cmd).terminal(10_000)))
		for _, width := range []int{40, 80, 120} {
			help := ansi.Strip(pageOf(cmd).terminal(width))
			for line := range strings.Lines(help) {
				if line = strings.TrimSuffix(line, "\n"); ansi.StringWidth(line) > width && len(strings.Fields(line)) > 1 || strings.HasSuffix(line, " ") {
					t.Errorf("%s at %d columns: %q", cmd.CommandPath(), width, line)
				}
			}
			if !slices.Equal(words(help), whole) {
				t.Errorf("%s at %d columns: words are broken in %s", cmd.CommandPath(), width, help)
			}
		}
	})
}

func TestHelpLooksAsBefore(t *testing.T) {
	for file, command := range map[string][]string{"mayfly": nil, "serve": {"serve"}, "wait": {"wait"}, "admin-key-create": {"admin", "key", "create"}} {
		cmd, _, err := (&app{}).root().Find(command)
		must(t, err)
		got := ansi.Strip(pageOf(cmd).terminal(80))
		golden := filepath.Join("testdata", "help", file+".txt")
		if *update {
			must(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		if want, err := os.ReadFile(golden); err != nil || got != string(want) {
			t.Errorf("%s: %v; got\n%s", golden, err, got)
		}
	}
}

// A command has an example. A flag's value has a name that says what it is, and its text reads on from it.
func TestEveryCommandAndFlagIsDescribed(t *testing.T) {
	eachCommand(func(cmd *cobra.Command) {
		if cmd.Example == "" && !cmd.HasSubCommands() {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		if strings.HasSuffix(cmd.Short, ".") || strings.ToUpper(cmd.Short[:1]) != cmd.Short[:1] {
			t.Errorf("%s: %q", cmd.CommandPath(), cmd.Short)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			r := flagRow(f)
			_, value, _ := strings.Cut(strings.TrimPrefix(r.name, "-"+f.Shorthand+", "), " ")
			if slices.Contains([]string{"STRING", "STRINGS"}, value) || strings.Contains(value, " ") {
				t.Errorf("%s %s: put the name of its value in back quotes", cmd.CommandPath(), r.name)
			}
			if r.text == "" || strings.HasSuffix(r.text, ".") || strings.Contains(r.text, "`") && value != "" {
				t.Errorf("%s %s: %q", cmd.CommandPath(), r.name, r.text)
			}
		})
	})
}

// exampleCommand finds mayfly and its arguments in a line of a shell.
var exampleCommand = regexp.MustCompile(`\bmayfly( [^|<>()&]*)?`)

func TestExamplesAreValid(t *testing.T) {
	eachCommand(func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			if strings.HasPrefix(line, "# ") {
				continue
			}
			for _, match := range exampleCommand.FindAllString(strings.TrimSpace(line), -1) {
				args := strings.Fields(match)[1:]
				root := (&app{}).root()
				root.InitDefaultHelpCmd()
				target, rest, err := root.Find(args)
				if err == nil {
					err = target.ParseFlags(rest)
				}
				if err == nil {
					err = target.ValidateArgs(target.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s: %q: %v", cmd.CommandPath(), line, err)
				}
			}
		}
	})
}

func TestCompletionsHaveNoBackQuotes(t *testing.T) {
	r := run(t, machine(t), "", "__complete", "serve", "--h")
	if !strings.Contains(r.stdout, "--http\taddress of the REST API") || strings.Contains(r.stdout, "`") {
		t.Errorf("%q", r.stdout)
	}
}

func TestManualPages(t *testing.T) {
	environ := append(machine(t), "MAYFLY_SERVE_STORE=/secret/place")
	dir := filepath.Join(t.TempDir(), "man1")
	if r := run(t, environ, "", "man", "--dir", dir); r.status != 0 {
		t.Fatal(r)
	}
	eachCommand(func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		file := filepath.Join(dir, name+".1")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			return
		}
		page := string(text)
		for _, want := range []string{`.TH "` + strings.ToUpper(name) + `" 1 "`, ".SH NAME\n" + roff(name) + ` \- `, ".SH SEE ALSO"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q in %s", name, want, page)
			}
		}
		home, _ := os.UserHomeDir()
		for _, machine := range []string{"/secret/place", filepath.Dir(dir), home + "/"} {
			if strings.Contains(page, machine) {
				t.Errorf("%s: %q is of this machine", name, machine)
			}
		}
		one := run(t, environ, "", append([]string{"man"}, strings.Fields(cmd.CommandPath())[1:]...)...)
		if one.stdout != page {
			t.Errorf("%s: got %+v, and with --dir %s", name, one, page)
		}
		if mandoc, err := exec.LookPath("mandoc"); err == nil {
			out, _ := exec.CommandContext(t.Context(), mandoc, "-T", "lint", "-W", "warning", file).Output()
			for line := range strings.Lines(string(out)) {
				if !strings.Contains(line, "missing date") { // which a build without a commit has not
					t.Error(line)
				}
			}
		}
	})
	root := run(t, environ, "", "man").stdout
	for _, want := range []string{"ENVIRONMENT", "FILES", "EXIT STATUS", "HELP TOPICS", "GLOBAL FLAGS"} {
		if !strings.Contains(root, `.SH `+want) {
			t.Errorf("mayfly(1) has no %s", want)
		}
	}
}
