package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) toolTestCommand() *cobra.Command {
	var in v1.NewToolTest
	var arguments callArguments
	cmd := &cobra.Command{
		Use:   "test TOOL|FILE.md",
		Short: "Test a draft or version with one call, and print how it went",
		Long: `Calls the draft of a tool, or a version of it, on the way that every call takes,
and prints its output as it comes, the arguments after coercion, and its answer.
The call is recorded as a test. It changes nothing unless --allow-writes is
given: what might is refused. A test that needs an approval waits for it, and the
error stream has the command that gives it; interrupting the command leaves the test
alone. A test that found a fault ends the command with exit code 1.

Of a TOOL.md, the examples are tested: their arguments are checked by the input
schema, and called where the tool only reads and the server has this draft.`,
		Example: `  toolcrib tool test datetime_utils --arg operation=now
  toolcrib tool test getOrder --version 1.2.0 --args '{"order_id": "SO-1007"}'
  toolcrib tool test createTicket --args-file ticket.json --allow-writes
  toolcrib tool test TOOL.md`,
		Args:              cli.Operands("tool"),
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if definition.IsContract(args[0]) {
				return a.testContracts(cmd.Context(), cmd.InOrStdin(), c, args)
			}
			if err := pinned(args, &in.Version); err != nil {
				return err
			}
			call := v1.NewCall{Version: in.Version, Mode: tool.Debug}
			var err error
			if in.Arguments, err = arguments.read(cmd.Context(), c, cmd.InOrStdin(), args[0], call); err != nil {
				return a.suggestTool(cmd.Context(), c, args[0], err)
			}
			return a.suggestTool(cmd.Context(), c, args[0], a.test(cmd.Context(), c, args[0], in))
		}),
	}
	cmd.Flags().StringVarP(&arguments.text, "args", "a", "", "arguments, a JSON object")
	cmd.Flags().StringVar(&arguments.file, "args-file", "", "file with the arguments; - for the standard input")
	cmd.Flags().StringArrayVar(&arguments.pairs, "arg", nil, "an argument, as NAME=VALUE; may be repeated")
	cmd.Flags().StringVar(&in.Version, "version", "", "version or constraint; the draft when absent")
	cmd.Flags().BoolVar(&in.AllowWrites, "allow-writes", false, "let the test change something")
	a.CompleteFlag(cmd, "version", a.completeVersions)
	return cmd
}

// test tests a tool and follows it to its end, however long that takes.
func (a *app) test(ctx context.Context, c *client.Client, name string, in v1.NewToolTest) error {
	begun, err := c.TestTool(ctx, name, in, 0)
	if err != nil {
		return err
	}
	said := false
	var after int64
	say := func(e tool.Event) error {
		after = e.Seq
		switch e.Type { //nolint:exhaustive // The others say nothing of a wait.
		case tool.EventNeedsApproval:
			return writeAsked(a.Env.Err, e, a.ApproverFlags())
		case tool.EventPending:
			return writeOffered(a.Env.Err, e)
		}
		var o agent.Output
		if a.Printer.JSON || e.Type != tool.EventOutputAppended {
			return nil
		}
		if err := json.Unmarshal(e.Data, &o); err != nil {
			return fmt.Errorf("reading the output of %s: %w", name, err)
		}
		said = true
		_, err := fmt.Fprint(a.Printer.Out, terminal.CleanLines(o.Text))
		return err
	}
	done := a.Progress("testing %s", name)
	run, err := c.Watch(ctx, begun.RunID, say, a.warner())
	done()
	if err != nil {
		return a.leave(ctx, &liveView{out: a.Printer.Out, inLine: said}, begun.RunID, after, err)
	}
	test, err := c.ToolTest(ctx, begun.Tool, run)
	if err != nil {
		return err
	}
	err = a.Printer.Show(test, func(w io.Writer) error {
		if said {
			_, _ = fmt.Fprintln(w)
		}
		return writeTest(w, test)
	})
	if err == nil && (test.Status != agent.RunCompleted || test.Invocation == nil || test.Invocation.IsError) {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return err
}

// writeTest writes how a test went.
func writeTest(w io.Writer, t v1.ToolTest) error {
	head := fmt.Sprintf("test of %s: %s", terminal.Clean(versioned(t.Tool, t.Version)), terminal.Clean(string(t.Status)))
	if i := t.Invocation; i != nil && i.StartedAt != nil && i.CompletedAt != nil {
		head += fmt.Sprintf(" after %d ms", i.CompletedAt.Sub(*i.StartedAt)/time.Millisecond)
	}
	if t.Error != "" {
		head += "\n" + terminal.Clean(string(t.ErrorKind)+": "+strings.TrimPrefix(t.Error, string(t.ErrorKind)+": "))
	}
	if _, err := fmt.Fprintln(w, head); err != nil || t.Invocation == nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "arguments: %s\n", terminal.Clean(plainJSON(t.Invocation.Input))); err != nil {
		return err
	}
	if len(t.Invocation.Receipt) > 0 {
		if _, err := fmt.Fprintf(w, "changed in them: %s\n", terminal.Clean(plainJSON(t.Invocation.Receipt))); err != nil {
			return err
		}
	}
	if t.Invocation.Output == nil {
		return nil
	}
	return writeResult(w, t.Invocation.Output)
}
