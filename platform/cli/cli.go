package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

// Env is the environment of commands: streams, variables, version.
type Env struct {
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Environ []string // The environment, as [os.Environ] has it.
	Dir     string   // Where a data folder is looked for. Defaults to the current directory.
	Version string   // Of the platform.
	Sandbox []string // Command line of a child that runs untrusted programs, see worker.Config.
	// Terminal returns how many columns the terminal has that w writes to, if
	// it does. Asks the system when nil.
	Terminal func(w io.Writer) (columns int, ok bool)
	// Patience is the timeout of optional requests, such as those for shell
	// completion. Each has a default of its own.
	Patience time.Duration
}

// App is one invocation of the command line: what commands share.
type App struct {
	Env     Env
	Printer terminal.Printer // Where output goes; set when a command begins.
	Called  string           // Slug of the tool that the command calls, if any: hints name it.

	flags   globalFlags
	started bool // A command began: an error from then on is no usage error.
}

type globalFlags struct {
	server  string
	key     string
	context string
	data    string
	json    bool
}

// Extension returns commands of another package, made for one invocation.
type Extension func(a *App) []*cobra.Command

// Run runs a command line, without the program's name, and returns its exit
// code. When ctx ends, the command stops as soon as it can.
func Run(ctx context.Context, env Env, args []string, extensions ...Extension) int {
	a := &App{Env: env}
	root := a.root(extensions...) //nolint:contextcheck // Commands get theirs when they run.
	root.SetFlagErrorFunc(flagFault)
	root.SetArgs(separateQuery(root, args))
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

// root returns the tree of commands.
func (a *App) root(extensions ...Extension) *cobra.Command {
	root := &cobra.Command{
		Use:   "toolcrib",
		Short: "Tools for agents: registered, resolved, run durably, and recorded",
		Long: `Toolcrib keeps the tools that agents use, and runs their calls durably on Temporal.

Start with "toolcrib dev": everything on this machine. Then apply definitions,
start a run, and look at its calls, as in the examples below.

The server and the key come from --server and --key, else from TOOLCRIB_SERVER
and TOOLCRIB_KEY (or TOOLCRIB_TOKEN), else from the context in use ("toolcrib context --help"), else
from the data folder of "toolcrib dev".

Every command prints JSON with --json: what the API answers with. Exit codes
mean something: "toolcrib help exit-codes".`,
		Example: `  toolcrib apply -f examples/support-desk
  toolcrib run start supportDesk --input "Where is my order?" --wait
  toolcrib invocations list`,
		Version:       a.Env.Version,
		Args:          noOperands,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if a.flags.context != "" && a.flags.context != approverContext && a.flags.data != "" {
				return Usagef("give one of --context and --data")
			}
			if err := oneOf(cmd); err != nil {
				return err
			}
			a.started = true
			a.nameActor(cmd)
			a.Printer = terminal.Printer{Out: a.screen(cmd.OutOrStdout()), JSON: a.flags.json}
			if err := a.applySettings(cmd); err != nil {
				return err
			}
			return a.applyVariables(cmd)
		},
	}
	root.SetIn(a.Env.In)
	root.SetOut(a.Env.Out)
	root.SetErr(a.Env.Err)
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.DisableDefaultCmd = true // There is one of our own.
	flags := root.PersistentFlags()
	flags.StringVar(&a.flags.server, "server", "", "URL of the server (TOOLCRIB_SERVER)")
	flags.StringVar(&a.flags.key, "key", "", "API key (TOOLCRIB_KEY)")
	flags.StringVar(&a.flags.context, "context", "", "context that names server and key (TOOLCRIB_CONTEXT)")
	flags.StringVar(&a.flags.data, "data", "", "data folder of toolcrib dev (TOOLCRIB_DATA; .toolcrib here or above)")
	flags.BoolVar(&a.flags.json, "json", false, "print JSON")
	root.AddCommand(a.contextCommand(), a.doctorCommand(), a.completionCommand(), exitCodesTopic())
	a.CompleteFlag(root, "context", a.completeContexts)
	for _, extension := range extensions {
		for _, cmd := range extension(a) {
			join(root, cmd)
		}
	}
	root.AddCommand(a.settingsCommand())
	registerSettings(root)
	nameVariables(root)
	group(root)
	return root
}

// join adds a command. The commands of a group whose name another package has taken go into that
// group.
func join(root, cmd *cobra.Command) {
	for _, known := range root.Commands() {
		if known.Name() == cmd.Name() && cmd.HasSubCommands() {
			below := cmd.Commands()
			cmd.RemoveCommand(below...)
			known.AddCommand(below...)
			return
		}
	}
	root.AddCommand(cmd)
}

// serving are the commands whose process serves others: what it does on its own is not done
// by who started it.
var serving = []string{"serve", "worker", "dev"}

// nameActor makes what the command changes in a database itself be by the operator.
func (a *App) nameActor(cmd *cobra.Command) {
	if slices.Contains(serving, cmd.Name()) {
		return
	}
	name := "uid " + strconv.Itoa(os.Getuid())
	if known, err := user.Current(); err == nil && known.Username != "" {
		name = known.Username
	}
	cmd.SetContext(audit.With(cmd.Context(), audit.Actor{Kind: audit.CLI, Subject: name}))
}

// Group is a command that only holds others.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Args: noOperands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(commands...)
	return cmd
}

// noOperands refuses the name of a command that there is not, with the nearest one.
func noOperands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	lacks := cmd.CommandPath() + " has no"
	if !cmd.HasParent() {
		lacks = "there is no"
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("%s command %q: did you mean %s?", lacks, args[0], cmp.Or(nearest.Name(args[0], near), near[0]))
	}
	return fmt.Errorf("%s command %q: see %s --help", lacks, args[0], cmd.CommandPath())
}

// Operands returns the check of a command's operands, which are named in order.
func Operands(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s needs a %s: see %s --help", cmd.CommandPath(), names[len(args)], cmd.CommandPath())
		case len(args) > len(names):
			return fmt.Errorf("%s does not know what to do with %q: see %s --help", cmd.CommandPath(), args[len(names)],
				cmd.CommandPath())
		}
		return nil
	}
}

// Describe sets the long help and the examples of a command.
func Describe(cmd *cobra.Command, long, example string) *cobra.Command {
	cmd.Long, cmd.Example = long, example
	return cmd
}

// Online returns the RunE function of a command that calls the server: it
// connects, and closes the client afterwards.
func (a *App) Online(
	fn func(cmd *cobra.Command, c *client.Client, args []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := a.Connect()
		if err != nil {
			return err
		}
		defer c.Close()
		return fn(cmd, c, args)
	}
}
