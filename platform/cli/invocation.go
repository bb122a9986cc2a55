package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) invocationsCommand() *cobra.Command {
	cmd := group("invocations", "Look at the record of calls", a.invocationListCommand(), a.invocationShowCommand())
	cmd.Aliases = []string{"invocation"}
	return cmd
}

func (a *app) invocationListCommand() *cobra.Command {
	var q client.InvocationQuery
	var status, since, until string
	cmd := &cobra.Command{
		Use: "list", Short: "List invocations, newest first", Args: operands(),
		Example: `  toolcrib invocations list --run 0198…
  toolcrib invocations list --tool getOrder --status failed --since 24h`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			q.Status = tool.InvocationStatus(status)
			if q.Since, err = moment(since); err != nil {
				return err
			}
			if q.Until, err = moment(until); err != nil {
				return err
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			defer c.Close()
			page, err := c.ListInvocations(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.printer.show(page, func(w io.Writer) error { return writeInvocations(w, page) })
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "pending, approved, running, waiting, completed, failed, rejected, cancelled, expired or unknown")
	cmd.Flags().StringVar(&q.Tool, "tool", "", "slug of the tool")
	cmd.Flags().StringVar(&q.Run, "run", "", "id of the run")
	cmd.Flags().StringVar(&q.Agent, "agent", "", "slug or id of the agent")
	cmd.Flags().StringVar(&since, "since", "", "created at or after: a time (RFC 3339), or how long ago (90m)")
	cmd.Flags().StringVar(&until, "until", "", "created before: a time, or how long ago")
	pageFlags(cmd, &q.Page)
	return cmd
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
		return time.Time{}, usage("%q is no time: write 2026-03-12T09:00:00Z, or 90m for so long ago", text)
	}
	return at, nil
}

func writeInvocations(w io.Writer, page v1.Page[tool.Invocation]) error {
	rows := make([][]string, len(page.Items))
	for i, v := range page.Items {
		status := string(v.Status)
		if v.ErrorKind != "" {
			status += " (" + string(v.ErrorKind) + ")"
		} else if v.IsError {
			status += " (no)"
		}
		rows[i] = []string{
			v.ID, versioned(v.Tool, v.Version), string(v.Implementation), string(v.Mode), status,
			strconv.Itoa(v.Attempt), millis(v.StartedAt, v.CompletedAt), stamp(v.CreatedAt),
		}
	}
	if err := table(w, "INVOCATION TOOL TYPE MODE STATUS ATTEMPT MS CREATED", rows); err != nil {
		return err
	}
	return more(w, page.Next)
}

func (a *app) invocationShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show INVOCATION", Short: "Show an invocation with its input and output", Args: operands("invocation"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			defer c.Close()
			invocation, err := c.Invocation(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.printer.show(invocation, func(w io.Writer) error { return writeInvocation(w, invocation) })
		},
	}
}

func writeInvocation(w io.Writer, v tool.Invocation) error {
	failed := ""
	if v.ErrorKind != "" {
		failed = string(v.ErrorKind) + ": " + v.Error
	}
	err := pairs(w,
		"invocation", v.ID, "tool", versioned(v.Tool, v.Version), "digest", v.Digest, "type", string(v.Implementation),
		"mode", string(v.Mode), "status", string(v.Status), "approval", string(v.ApprovalStatus), "egress", string(v.EgressClass),
		"attempt", strconv.Itoa(v.Attempt), "ms", millis(v.StartedAt, v.CompletedAt), "run", v.RunID, "call", v.CallID,
		"subject", v.Subject, "created", stamp(v.CreatedAt), "error", failed,
		"input", string(v.Input), "coerced", string(v.Receipt))
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
		if block.Type == tool.JSONContent {
			if pretty, err := json.MarshalIndent(block.JSON, "", "  "); err == nil {
				text = string(pretty)
			}
		}
		if _, err := fmt.Fprintln(w, cleanLines(text)); err != nil {
			return err
		}
	}
	return nil
}
