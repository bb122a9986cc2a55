package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
	approval "github.com/toolcrib/toolcrib/wait"
)

func (a *app) toolCallCommand() *cobra.Command {
	var in v1.NewCall
	var arguments callArguments
	var mode string
	var wait time.Duration
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "call TOOL",
		Short: "Call a tool once and print its answer",
		Long: `Calls a tool durably and waits for its answer. A tool that answers no ends the
command with exit code 1, one that gave no answer with that of the failure, and
one that is still running when the wait is over with 8; with --wait 0 that is no
failure. With --id the call is made once, however often it is asked for.

A tool that asks for a confirmation of its calls, and for no more, may be confirmed by
who calls it, with the permission approvals.confirm: beforehand with --yes, or later by
toolcrib approvals approve.

Arguments are a JSON object, or --arg NAME=VALUE pairs, whose values are read as
the tool's schema wants them: as a number, a truth value, a list. A name with
dots leads into an object, and a name given several times makes a list.`,
		Example: `  toolcrib tool call datetime_utils --arg operation=now
  toolcrib tool call searchOrders --arg filter.status=open --arg limit=5 --arg tags=new --arg tags=urgent
  toolcrib tool call refundOrder@^1.2 --args '{"id": 4711}' --id refund-4711
  toolcrib tool call refundOrder --args-file refund.json --dry-run
  toolcrib tool call lookUpBalance --arg customer=Ada --yes`,
		Args:              cli.Operands("tool"),
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if err := pinned(args, &in.Version); err != nil {
				return err
			}
			seconds := wait.Seconds()
			in.Mode, in.WaitS = tool.Mode(mode), &seconds
			arguments.check = dryRun
			var err error
			if in.Arguments, err = arguments.read(cmd.Context(), c, cmd.InOrStdin(), args[0], in); err != nil {
				return a.suggestTool(cmd.Context(), c, args[0], err)
			}
			if dryRun {
				return a.Printer.ShowLine(in.Arguments, "would call %s with %s",
					terminal.Clean(args[0]), terminal.Clean(plainJSON(in.Arguments)))
			}
			call := c.CallTool
			if yes && wait == 0 {
				return cli.Usagef("--yes has to wait for what the tool asks: leave --wait 0 out")
			}
			if yes {
				call = confirming{app: a, client: c}.call
			}
			return a.suggestTool(cmd.Context(), c, args[0], a.call(cmd.Context(), c, call, args[0], in))
		}),
	}
	cmd.Flags().StringVarP(&arguments.text, "args", "a", "", "arguments, a JSON object")
	cmd.Flags().StringVar(&arguments.file, "args-file", "", "file with the arguments; - for the standard input")
	cmd.Flags().StringArrayVar(&arguments.pairs, "arg", nil, "an argument, as NAME=VALUE; may be repeated")
	cmd.Flags().StringVar(&in.Version, "version", "",
		"version or constraint, such as ^1.2; also behind the name, as in TOOL@^1.2")
	cmd.Flags().StringVar(&in.ID, "id", "", "makes the call one, however often it is asked for")
	cmd.Flags().StringVar(&mode, "mode", string(tool.Production), "production, or debug to use the draft")
	cmd.Flags().DurationVar(&wait, "wait", 30*time.Second, "how long to wait for the answer, up to 60s")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check the arguments, and do not call")
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the call, where the tool asks for no more than that")
	a.CompleteFlag(cmd, "version", a.completeVersions)
	return cmd
}

// pinned takes the version or constraint from a tool that is named with it, as in getOrder@^1.2.
func pinned(args []string, version *string) error {
	name, behind, ok := strings.Cut(args[0], "@")
	switch {
	case !ok:
	case *version != "":
		return cli.Usagef("give one of --version and %s", terminal.Clean(args[0]))
	default:
		args[0], *version = name, behind
	}
	return nil
}

func readArguments(stdin io.Reader, text, file string) (json.RawMessage, error) {
	switch {
	case text != "" && file != "":
		return nil, cli.Usagef("give one of --args and --args-file")
	case file != "":
		raw, err := definition.ReadFile(file, stdin)
		if err != nil {
			return nil, &tool.Error{Kind: tool.NotFound, Msg: definition.Unreadable(file, err), Err: err}
		}
		text = string(raw)
	case text == "":
		return nil, nil
	}
	canonical, err := schema.Canonical(json.RawMessage(text))
	switch {
	case err == nil:
		return canonical, nil
	case json.Valid([]byte(text)) || !utf8.ValidString(text):
		e := tool.AsError(err)
		return nil, &tool.Error{Kind: tool.Invalid, Path: e.Path, Msg: "the arguments are refused: " + e.Msg}
	default:
		return nil, &tool.Error{
			Kind: tool.Invalid, Msg: "the arguments are not JSON: quote them for the shell, as in --args '{\"id\": 1}'",
		}
	}
}

// toolCall makes a call, and waits for its result as long as the call says.
type toolCall func(ctx context.Context, name string, in v1.NewCall) (v1.Call, error)

func (a *app) call(ctx context.Context, c *client.Client, send toolCall, name string, in v1.NewCall) error {
	a.Called = name
	done := a.Progress("waiting for %s", name)
	call, err := send(ctx, name, in)
	done()
	if err != nil {
		if ctx.Err() != nil && !a.Printer.JSON {
			_, _ = fmt.Fprintf(a.Env.Err, "the call may go on; see it with: toolcrib invocations list --tool %s\n",
				terminal.Clean(name)) // It is interrupted in any case.
		}
		return err
	}
	for _, warning := range call.Warnings {
		_, _ = fmt.Fprintf(a.Env.Err, "warning: %s\n", terminal.Clean(warning)) // The answer matters more.
	}
	err = a.Printer.Show(call, func(w io.Writer) error {
		if call.Result == nil {
			if asked := a.asked(ctx, c, call.RunID); asked.ID != "" {
				whose, flags := "an approval by somebody else", a.ApproverFlags()
				if asked.Own {
					whose, flags = "your confirmation", ""
				}
				_, err := fmt.Fprintf(w, "waits for %s: toolcrib approvals approve %s%s\nthen: toolcrib run follow %s\n",
					whose, terminal.Clean(asked.ID), terminal.Clean(flags), terminal.Clean(call.RunID))
				return err
			}
			if next := a.awaited(ctx, c, call.RunID); next != "" {
				_, err := fmt.Fprintln(w, next)
				return err
			}
			_, err := fmt.Fprintf(w, "still running: follow it with toolcrib run follow %s\n", terminal.Clean(call.RunID))
			return err
		}
		return writeResult(w, call.Result)
	})
	if err == nil && call.Result == nil && waited(in) {
		return &cli.ExitError{Code: cli.ExitRunning}
	}
	if err == nil && call.Result != nil && call.Result.IsError {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return err
}

// asked returns the request for approval that a run waits for; none where it waits for
// none, or that cannot be seen.
func (a *app) asked(ctx context.Context, c *client.Client, runID string) v1.Approval {
	found, err := c.ListApprovals(ctx, client.ApprovalQuery{
		Status: approval.Pending, Run: runID, Page: client.Page{Limit: 1},
	})
	if err != nil || len(found.Items) == 0 {
		return v1.Approval{}
	}
	return found.Items[0]
}

// awaited says what to do for a run that waits for somebody outside: a person who answers, or a
// program that submits a result. It is empty where the run waits for none, or that cannot be seen.
func (a *app) awaited(ctx context.Context, c *client.Client, runID string) string {
	asked, err := c.ListInputRequests(ctx, client.InputRequestQuery{
		Status: approval.CallWaiting, Run: runID, Page: client.Page{Limit: 1},
	})
	if err == nil && len(asked.Items) > 0 {
		return "waits for a person: toolcrib inputs link " + terminal.Clean(asked.Items[0].ViewID)
	}
	found, err := c.ListPendingCalls(ctx, client.PendingCallQuery{
		Status: approval.CallWaiting, Run: runID, Page: client.Page{Limit: 1},
	})
	if err != nil || len(found.Items) == 0 {
		return ""
	}
	return fmt.Sprintf("waits for its result from outside: toolcrib results submit %s --result …",
		terminal.Clean(found.Items[0].ID))
}

// waited reports whether the command waits for the answer of a call.
func waited(in v1.NewCall) bool { return in.WaitS == nil || *in.WaitS > 0 }
