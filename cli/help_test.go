package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"mayfly/internal/manual"
)

func TestHelpListsCommandsAndTopics(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}} {
		r := run(t, machine(t), "", args...)
		for _, want := range []string{"HELP TOPICS", "\n  ci ", "\n  scale ", "\n  wait ", "\nEXIT STATUS\n", "\n  MAYFLY_API_KEY "} {
			if r.status != 0 || !strings.Contains(r.stdout, want) {
				t.Errorf("%v: status %d, no %q in %q", args, r.status, want, r.stdout)
			}
		}
	}
}

func TestHelpShowsAPage(t *testing.T) {
	for _, topic := range manual.Topics() {
		r := run(t, machine(t), "", "help", topic.Name)
		if r.status != 0 || r.stderr != "" || !strings.HasPrefix(r.stdout, strings.ToUpper(topic.Title)+"\n\n  "+topic.Summary[:20]) {
			t.Errorf("%s: status %d: %.200q, %q", topic.Name, r.status, r.stdout, r.stderr)
		}
		if strings.Contains(r.stdout, "\x1b") {
			t.Errorf("%s: a pipe is given escape sequences", topic.Name)
		}
		for line := range strings.Lines(r.stdout) {
			if ansi.StringWidth(line) > 80 {
				t.Errorf("%s: a line is too wide: %q", topic.Name, line)
			}
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
	r := run(t, machine(t), "", "help", "key", "set")
	if want := run(t, machine(t), "", "key", "set", "--help"); r != want {
		t.Errorf("got %+v\nwant %+v", r, want)
	}
}

func TestHelpSuggests(t *testing.T) {
	tests := map[string][]string{
		`no command or help topic is called "sacle"; did you mean scale or save?`:                         {"help", "sacle"},
		`no command or help topic is called "wiat"; did you mean wait?`:                                   {"help", "wiat"},
		`no command or help topic is called "nosuch"; the topics are checks, ci,`:                         {"help", "nosuch"},
		"unknown command \"sett\" for `mayfly key`; did you mean set?":                                    {"help", "key", "sett"},
		"unknown command \"wiat\" for `mayfly`; did you mean wait?\n":                                     {"wiat"},
		"unknown command \"reed\" for `mayfly`; did you mean read?\n":                                     {"reed"},
		"unknown command \"mesages\" for `mayfly`; did you mean messages?":                                {"mesages"},
		"unknown command \"crate\" for `mayfly admin key`; did you mean create?":                          {"admin", "key", "crate"},
		"unknown command \"fih\" for `mayfly completion`; did you mean fish?":                             {"completion", "fih"},
		`no command or help topic is called "reed"; did you mean read?`:                                   {"man", "reed"},
		"unknown flag --cod; did you mean --code?\n":                                                      {"wait", "--cod"},
		"unknown flag --jsno; did you mean --json?":                                                       {"wait", "--jsno"},
		"unknown flag -json; did you mean --json?":                                                        {"ls", "-json"},
		"unknown command \"reed\" for `mayfly`; did you mean read?":                                       {"reed", "--help"},
		"unknown plan \"x\": want free, dev, startup or enterprise; see `mayfly admin key create --help`": {"admin", "key", "create", "--plan", "x", "--store", "/nowhere"},
		"unknown flag -x; see `mayfly --help`":                                                            {"-x"},
		"unknown flag --nonsense; see `mayfly --help`":                                                    {"--nonsense"},
		"--profile NAME needs a value; see `mayfly ls --help`":                                            {"ls", "--profile"},
		`--max-errors "x": want a number; see`:                                                            {"serve", "--max-errors", "x"},
		`--insecure "x": want true or false; see`:                                                         {"ls", "--insecure=x"},
		`--ttl "x": want a duration such as 90, 30m, 1h30m or 2d; see`:                                    {"new", "--ttl", "x"},
		"`mayfly completion` needs one of bash, zsh, fish, powershell":                                    {"completion"},
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
		if n := strings.Count(r.stdout, "\n"); n != len(want)+1 {
			t.Errorf("%q: %q", args, r.stdout)
		}
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if cmd.Name() == "completion" {
			return // its texts, which have examples, are Cobra's
		}
		if cmd.Short == "" || cmd.Example == "" && !cmd.HasSubCommands() {
			t.Errorf("%s has no summary or no example", cmd.CommandPath())
		}
		for _, child := range cmd.Commands() {
			check(child)
		}
	}
	check((&app{}).root())
}
