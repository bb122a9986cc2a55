package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// servers are the commands that run where a variable is easier to set than a
// flag: each of their flags has one.
var servers = []string{"serve", "worker", "dev"}

// variableOf returns the environment variable of a flag: TOOLCRIB_ALLOW_HOST of --allow-host.
func variableOf(flag string) string {
	return "TOOLCRIB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// nameVariables says in the help of servers which variable each flag has.
func nameVariables(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if !slices.Contains(servers, cmd.Name()) {
			continue
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			name := variableOf(f.Name)
			if f.Name == "help" || strings.Contains(f.Usage, name) {
				return
			}
			if _, many := f.Value.(pflag.SliceValue); many {
				name += ", with commas between"
			}
			f.Usage += " (" + name + ")"
		})
	}
}

// applyVariables sets the flags of a server from environment variables, unless
// the flag is on the command line. Variables that a command reads itself have
// the same names.
func (a *App) applyVariables(cmd *cobra.Command) error {
	if !slices.Contains(servers, cmd.Name()) || cmd.Parent() != cmd.Root() {
		return nil
	}
	var failed error
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		text := a.Env.Getenv(variableOf(f.Name))
		if f.Changed || text == "" || failed != nil || f.Name == "help" {
			return
		}
		set := f.Value.Set
		if many, ok := f.Value.(pflag.SliceValue); ok {
			set = func(text string) error { return many.Replace(strings.Split(text, ",")) }
		}
		if err := set(text); err != nil {
			failed = Usagef("%s is %q, which --%s does not take: expected %s", variableOf(f.Name), text, f.Name,
				cmp.Or(valueOf(f), f.Value.Type()))
		}
	})
	return failed
}
