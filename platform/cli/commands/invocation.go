package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

func (a *app) invocationsCommand() *cobra.Command {
	cmd := cli.Describe(cli.Group("invocations", "Look at the record of calls", a.invocationListCommand(),
		a.invocationShowCommand(), a.invocationResultCommand()),
		`An invocation is the record of serving one call: the version it ran, what it was
given, its attempts and how it ended.`,
		`  toolcrib invocations list --status failed --since 24h
  toolcrib invocations show 01987a3c-0000-7000-8000-000000000002`)
	cmd.Aliases = []string{"invocation"}
	return cmd
}

func (a *app) invocationListCommand() *cobra.Command {
	var q client.InvocationQuery
	var since, until string
	cmd := cli.Describe(listCommand(a, "List invocations, newest first",
		func(c *client.Client, ctx context.Context, page client.Page) (v1.Page[v1.Invocation], error) {
			q.Page = page
			return c.ListInvocations(ctx, q)
		}, invocationListing), `Lists the calls of tools, newest first, as far as the filters let them through.`,
		`  toolcrib invocations list --run 01987a3c-0000-7000-8000-000000000001
  toolcrib invocations list --tool getOrder --status failed --since 24h`)
	cmd.PreRunE = func(*cobra.Command, []string) error { return period(since, until, &q.Since, &q.Until) }
	cmd.Flags().StringVar(
		(*string)(&q.Status), "status", "",
		"pending, approved, running, waiting, completed, failed, rejected, cancelled, expired or unknown",
	)
	cmd.Flags().StringVar(&q.Tool, "tool", "", "slug of the tool")
	cmd.Flags().StringVar(&q.Run, "run", "", "id of the run")
	cmd.Flags().StringVar(&q.Agent, "agent", "", "slug or id of the agent")
	cmd.Flags().StringVar(&q.Parent, "parent", "", "id of the invocation that they are steps of")
	periodFlags(cmd, &since, &until)
	return cmd
}

func periodFlags(cmd *cobra.Command, since, until *string) {
	cmd.Flags().StringVar(since, "since", "", "created at or after: a time (RFC 3339), or how long ago (90m)")
	cmd.Flags().StringVar(until, "until", "", "created before: a time, or how long ago")
}

// period reads the bounds of a period.
func period(since, until string, from, to *time.Time) (err error) {
	if *from, err = moment(since); err != nil {
		return err
	}
	*to, err = moment(until)
	return err
}

// moment reads a point in time: RFC 3339, or how long ago it was.
func moment(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil {
		return time.Now().Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, cli.Usagef("%q is no time: write 2026-03-12T09:00:00Z, or 90m for so long ago", text)
	}
	return at, nil
}

var invocationListing = listing[v1.Invocation]{
	header: "INVOCATION TOOL~ TYPE MODE STATUS ATTEMPT MS CREATED",
	row: func(v v1.Invocation) []string {
		status := string(v.Status)
		if v.ErrorKind != "" {
			status += " (" + string(v.ErrorKind) + ")"
		} else if v.IsError {
			status += " (no)"
		}
		return []string{
			v.ID, versioned(v.Tool, v.Version), string(v.Implementation), string(v.Mode), status,
			strconv.Itoa(v.Attempt), terminal.Millis(v.StartedAt, v.CompletedAt), terminal.Since(v.CreatedAt),
		}
	},
	empty: "no calls yet: make one with toolcrib tool call TOOL, or start a run with toolcrib run start AGENT",
}

func (a *app) invocationShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show INVOCATION", Short: "Show an invocation with its input and output", Args: cli.Operands("invocation"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			invocation, err := c.Invocation(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(invocation, func(w io.Writer) error { return writeInvocation(w, invocation) })
		}),
	}, `Shows the record of a call: what was asked for, what was changed to make the
arguments fit, what ran and what it answered.`, `  toolcrib invocations show 01987a3c-0000-7000-8000-000000000002`)
}

func (a *app) invocationResultCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "result INVOCATION", Short: "Print the whole result of a call, and nothing else",
		Args: cli.Operands("invocation"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			invocation, err := c.Invocation(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if invocation.Output == nil {
				return &tool.Error{
					Kind: tool.Conflict, Op: "cli.invocations", Msg: "the call has no result: it is " + string(invocation.Status),
				}
			}
			return a.Printer.Show(invocation.Output, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, terminal.CleanLines(tool.ReadableText(invocation.Output.Content)))
				return err
			})
		}),
	}, `Prints what the tool answered, whole, even where its model was shown a preview only:
text as it is, JSON indented. Images and other binary data are in --json.`,
		`  toolcrib invocations result 01987a3c-0000-7000-8000-000000000002 > report.json`)
}

func writeInvocation(w io.Writer, v v1.Invocation) error {
	failed := ""
	if v.ErrorKind != "" {
		failed = string(v.ErrorKind) + ": " + v.Error
	}
	cost := ""
	if v.CostMicros != nil {
		cost = usage.Micros(*v.CostMicros).String()
	}
	err := terminal.Pairs(w,
		"invocation", v.ID, "tool", versioned(v.Tool, v.Version), "digest", v.Digest, "type", string(v.Implementation),
		"mode", string(v.Mode), "status", string(v.Status), "approval", string(v.ApprovalStatus), "egress",
		string(v.EgressClass),
		"attempt", strconv.Itoa(v.Attempt), "ms", terminal.Millis(v.StartedAt, v.CompletedAt), "cost", cost, "run", v.RunID,
		"call", v.CallID, "subject", v.Subject, "created", terminal.StampSince(v.CreatedAt), "error", failed,
		"input", string(v.Input), "coerced", string(v.Receipt))
	if err == nil && v.Check != nil {
		err = terminal.Pairs(w, "sent to", v.Check.Host, "sent after", terminal.Stamp(v.Check.SentAfter), "sent before",
			terminal.Stamp(v.Check.SentBefore),
			"idempotency key", v.Check.IdempotencyKey, "arguments digest", v.Check.ArgumentsDigest, "check", v.Check.Advice)
	}
	if err != nil || v.Output == nil {
		return err
	}
	return writeResult(w, v.Output)
}

// writeResult writes what a tool answered.
func writeResult(w io.Writer, r *tool.Result) error {
	head := "answer:"
	if r.IsError {
		head = "answered no:"
	}
	if _, err := fmt.Fprintln(w, head); err != nil {
		return err
	}
	for _, block := range r.Content {
		text := contentText(block)
		if block.Type == tool.ContentJSON {
			var pretty bytes.Buffer
			if json.Indent(&pretty, []byte(plainJSON(block.JSON)), "", "  ") == nil {
				text = pretty.String()
			}
		}
		if _, err := fmt.Fprintln(w, terminal.CleanLines(text)); err != nil {
			return err
		}
	}
	return writeResultWarnings(w, r)
}

// writeResultWarnings writes what people should know beside an answer.
func writeResultWarnings(w io.Writer, r *tool.Result) error {
	warnings := r.Warnings
	if r.Mismatch != "" {
		warnings = append(slices.Clip(warnings), r.Mismatch+" (passed on: output_check is warn)")
	}
	for _, warning := range warnings {
		if _, err := fmt.Fprintf(w, "warning: %s\n", terminal.Clean(warning)); err != nil {
			return err
		}
	}
	return nil
}
