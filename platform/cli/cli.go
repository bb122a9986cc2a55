package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Env is what commands meet outside of themselves.
type Env struct {
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Environ []string // The environment, as [os.Environ] has it.
	Dir     string   // Where a data folder is looked for. Defaults to the current directory.
	Version string   // Of the platform.
}

// app is one invocation of the command line.
type app struct {
	env     Env
	printer printer
	flags   globalFlags
	started bool // A command began: what fails from then on is no mistake in typing.
}

type globalFlags struct {
	server string
	key    string
	data   string
	json   bool
}

// Extension adds a command that stands apart because of what it links.
type Extension func(env Env) *cobra.Command

// Run runs a command line, without the program's name, and returns its exit
// code. When ctx ends, the command stops as soon as it can.
func Run(ctx context.Context, env Env, args []string, extensions ...Extension) int {
	a := &app{env: env}
	root := a.root() //nolint:contextcheck // Commands get theirs when they run.
	for _, extension := range extensions {
		root.AddCommand(extension(env))
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	if !a.started {
		err = &UsageError{Err: err}
	}
	a.report(ctx, err)
	return exitCode(ctx, err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "toolcrib",
		Short: "Tools for agents: registered, resolved, run durably, and recorded",
		Long: `Toolcrib keeps the tools that agents use, and runs their calls durably on Temporal.

Start with "toolcrib dev": everything on this machine. Then apply definitions,
start a run, and look at its calls:

  toolcrib apply -f examples/support-desk
  toolcrib run start supportDesk --input "Where is my order?" --wait
  toolcrib invocations list

The server and the key come from --server and --key, else from TOOLCRIB_SERVER
and TOOLCRIB_KEY, else from the data folder of "toolcrib dev".

Exit codes: ` + exitCodeHelp,
		Version:       a.env.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			a.started = true
			a.printer = printer{out: cmd.OutOrStdout(), json: a.flags.json}
		},
	}
	root.SetIn(a.env.In)
	root.SetOut(a.env.Out)
	root.SetErr(a.env.Err)
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.StringVar(&a.flags.server, "server", "", "URL of the server (TOOLCRIB_SERVER)")
	flags.StringVar(&a.flags.key, "key", "", "API key (TOOLCRIB_KEY)")
	flags.StringVar(&a.flags.data, "data", "", "data folder of toolcrib dev (TOOLCRIB_DATA; .toolcrib here or above)")
	flags.BoolVar(&a.flags.json, "json", false, "print JSON")
	root.AddCommand(
		a.applyCommand(), a.toolCommand(), a.agentCommand(), a.runCommand(), a.invocationsCommand(), a.keyCommand(),
		a.tenantCommand(), a.serveCommand(), a.workerCommand(), a.migrateCommand(),
	)
	return root
}

// group is a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return fmt.Errorf("%s has no command %q: did you mean %s?", cmd.CommandPath(), args[0], near[0])
			}
			return fmt.Errorf("%s has no command %q: see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(commands...)
	return cmd
}

// operands says which operands a command takes, by name.
func operands(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s needs a %s: see %s --help", cmd.CommandPath(), names[len(args)], cmd.CommandPath())
		case len(args) > len(names):
			return fmt.Errorf("%s does not know what to do with %q: see %s --help", cmd.CommandPath(), args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}
