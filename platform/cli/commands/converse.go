package commands

import (
	"context"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) runSayCommand() *cobra.Command {
	var in v1.NewMessage
	var text, file string
	var wait, follow bool
	cmd := &cobra.Command{
		Use: "say RUN [TEXT]", Short: "Say more to an agent",
		Long: `Starts a run that takes over the transcript of another one and answers what you say
next, and prints its id. The other run stays as it is. With --after-turn it goes on
from an earlier turn: a fork. A run that has not ended takes up what you say with its
next turn.`,
		Example: `  toolcrib run say 01987a3c-0000-7000-8000-000000000001 "And when will it arrive?" --wait
  toolcrib run say 01987a3c-0000-7000-8000-000000000001 "Ask the carrier instead" --after-turn 2`,
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: a.completeRuns,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if len(args) == 2 {
				if text != "" {
					return cli.Usagef("give the text once: as an argument, or with --input")
				}
				text = args[1]
			}
			var err error
			if in.Input, err = readInput(cmd.InOrStdin(), text, file); err != nil {
				return err
			}
			in.Follow = follow
			run, err := c.ContinueRun(cmd.Context(), args[0], in)
			if err != nil {
				return err
			}
			return a.began(cmd.Context(), c, run, wait, follow)
		}),
	}
	cmd.Flags().StringVarP(&text, "input", "i", "", "what the user says; JSON other than a string is sent as it is")
	cmd.Flags().StringVar(&file, "input-file", "", "file with the input; - for the standard input")
	cmd.Flags().IntVar(&in.AfterTurn, "after-turn", 0, "take over the transcript up to this turn only")
	cmd.Flags().StringVar(&in.Version, "version", "", "version or constraint of the agent; that of the run by default")
	begunFlags(cmd, &wait, &follow)
	return cmd
}

func (a *app) runRerunCommand() *cobra.Command {
	var in v1.Rerun
	var wait, follow bool
	cmd := &cobra.Command{
		Use: "rerun RUN", Short: "Start a run again with the same input",
		Long: `Starts a new run of the same agent with the input of another one, and prints its id.
It is by the highest published version of the agent, unless --version names another.`,
		Example: `  toolcrib run rerun 01987a3c-0000-7000-8000-000000000001 --follow`,
		Args:    cli.Operands("run"), ValidArgsFunction: a.completeRuns,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			in.Follow = follow
			run, err := c.Rerun(cmd.Context(), args[0], in)
			if err != nil {
				return err
			}
			return a.began(cmd.Context(), c, run, wait, follow)
		}),
	}
	cmd.Flags().StringVar(&in.Version, "version", "", "version or constraint of the agent")
	begunFlags(cmd, &wait, &follow)
	return cmd
}

func begunFlags(cmd *cobra.Command, wait, follow *bool) {
	cmd.Flags().BoolVarP(wait, "wait", "w", false, "wait until the run ends, and print each call")
	cmd.Flags().BoolVarP(follow, "follow", "f", false, "watch the run live: what the model says, and each call")
	cmd.MarkFlagsMutuallyExclusive("wait", "follow")
}

// began prints the id of a run that has begun, or what it does.
func (a *app) began(ctx context.Context, c *client.Client, run v1.Run, wait, follow bool) error {
	if !wait && !follow {
		return a.Printer.ShowLine(run, "%[1]s\nfollow it with: toolcrib run follow %[1]s", terminal.Clean(run.ID))
	}
	if err := a.Printer.Say("run %s of %s", terminal.Clean(run.ID), terminal.Clean(run.Agent)); err != nil {
		return err
	}
	if follow {
		return a.watch(ctx, c, run.ID, 0)
	}
	defer a.Progress("following %s", run.ID)()
	return a.follow(ctx, c, run.ID)
}
