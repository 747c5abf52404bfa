package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// bashWords finds the words of the line where the package bash-completion, which does so for Cobra's
// script, is missing. As there, @ ends no word.
const bashWords = `
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    shopt -u hostcomplete
    __mayfly_init_completion()
    {
        local line=${COMP_LINE:0:COMP_POINT}
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1))
        cur=${words[cword]} prev=${words[cword-1]}
    }
fi
`

// zshCompinit turns completion on if it is off, below the tag that compinit looks for in a first line.
const zshCompinit = `
(( $+functions[compdef] )) || { autoload -U compinit && compinit }
`

// completionCommand prints, for each shell, the script that completes commands. It replaces Cobra's,
// whose scripts need the package bash-completion, or that completion is on in zsh, and whose help asks
// for root.
func (a *app) completionCommand() *cobra.Command {
	shell := func(name, example string, write func(root *cobra.Command, w io.Writer) error) *cobra.Command {
		return &cobra.Command{
			Use:     name,
			Short:   "Print the script for " + name,
			Example: example,
			Args:    noArgs,
			RunE:    func(cmd *cobra.Command, _ []string) error { return write(cmd.Root(), a.env.Stdout) },
		}
	}
	return group(&cobra.Command{
		Use:   "completion",
		Short: "Print a script that completes commands in a shell",
		Long:  "Print a script with which a shell completes commands, flags, addresses and message IDs.",
		Example: `source <(mayfly completion bash)
mayfly completion fish | source`,
	},
		shell("bash", `# In this shell
source <(mayfly completion bash)

# In every new shell
echo 'source <(mayfly completion bash)' >> ~/.bashrc`, func(root *cobra.Command, w io.Writer) error {
			if err := root.GenBashCompletionV2(w, true); err != nil {
				return err
			}
			_, err := io.WriteString(w, bashWords)
			return err
		}),
		shell("zsh", `# In this shell
source <(mayfly completion zsh)

# In every new shell
echo 'source <(mayfly completion zsh)' >> ~/.zshrc

# The same from a file, which is read when it is first needed
mkdir -p ~/.zfunc && mayfly completion zsh > ~/.zfunc/_mayfly
echo 'fpath+=(~/.zfunc); autoload -U compinit && compinit' >> ~/.zshrc`, func(root *cobra.Command, w io.Writer) error {
			var script strings.Builder
			if err := root.GenZshCompletion(&script); err != nil {
				return err
			}
			tag, rest, _ := strings.Cut(script.String(), "\n")
			_, err := io.WriteString(w, tag+zshCompinit+rest)
			return err
		}),
		shell("fish", `# In this shell
mayfly completion fish | source

# In every new shell
mkdir -p ~/.config/fish/completions
mayfly completion fish > ~/.config/fish/completions/mayfly.fish`, func(root *cobra.Command, w io.Writer) error {
			return root.GenFishCompletion(w, true)
		}),
		shell("powershell", `mayfly completion powershell | Out-String | Invoke-Expression`, (*cobra.Command).GenPowerShellCompletionWithDesc),
	)
}
