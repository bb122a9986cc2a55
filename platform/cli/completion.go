package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (a *App) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print what makes a shell complete commands",
		Long: `Prints a script that makes a shell complete commands, flags, and the names of
tools, agents, runs and contexts, which it asks the server for.`,
		Example: `  source <(toolcrib completion bash)
  toolcrib completion zsh > "${fpath[1]}/_toolcrib"
  toolcrib completion fish > ~/.config/fish/completions/toolcrib.fish
  toolcrib completion powershell | Out-String | Invoke-Expression`,
		Args:      Operands("shell"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			default:
				return Usagef("%q is no shell that is known: expected %s", args[0], strings.Join(shells, ", "))
			}
		},
	}
}

// Words completes with fixed words, separated by spaces in text.
func Words(text string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return Matching(strings.Fields(text), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFlag makes a flag complete, if the command has one of that name.
func (a *App) CompleteFlag(cmd *cobra.Command, name string, fn cobra.CompletionFunc) {
	if cmd.LocalNonPersistentFlags().Lookup(name) == nil && cmd.PersistentFlags().Lookup(name) == nil {
		return
	}
	_ = cmd.RegisterFlagCompletionFunc(name, fn) // It fails for a flag that has one already.
}

// FirstOnly completes the first operand of a command only.
func FirstOnly(fn cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return fn(cmd, args, typed)
	}
}

func (a *App) completeContexts(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	_, contexts, err := a.readContexts()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, name := range sortedNames(contexts.Contexts) {
		found = append(found, name+"\t"+contexts.Contexts[name].Server)
	}
	found = append(found, localContext+"\tthe stack of toolcrib dev",
		approverContext+"\tthe same, with the key that approves calls")
	return Matching(found, typed), cobra.ShellCompDirectiveNoFileComp
}

// Matching keeps the words that begin with what was typed.
func Matching(found []string, typed string) []string {
	return slices.DeleteFunc(found, func(word string) bool { return !strings.HasPrefix(word, typed) })
}
