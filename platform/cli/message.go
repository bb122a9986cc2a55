package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) runMessagesCommand() *cobra.Command {
	return a.withRun("messages", "Show a run's transcript", func(ctx context.Context, c *client.Client, id string) error {
		messages, err := c.Messages(ctx, id)
		if err != nil {
			return err
		}
		return a.printer.show(v1.Page[agent.Message]{Items: messages}, func(w io.Writer) error {
			for _, m := range messages {
				if err := writeMessage(w, m); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func writeMessage(w io.Writer, m agent.Message) error {
	head := string(m.Role)
	if m.CallID != "" {
		head += " " + clean(m.CallID)
	}
	if m.IsError {
		head += " (error)"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] %s\n", m.Turn, head)
	for _, block := range m.Content {
		if text := contentText(block); text != "" {
			fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(cleanLines(text), "\n", "\n    "))
		}
	}
	for _, call := range m.Calls {
		fmt.Fprintf(&b, "    → %s %s(%s)\n", clean(call.ID), clean(call.Name), short(string(call.Arguments), 200))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func contentText(c tool.Content) string {
	switch c.Type {
	case tool.TextContent:
		return c.Text
	case tool.JSONContent:
		return string(c.JSON)
	case tool.ImageContent, tool.AudioContent:
		return fmt.Sprintf("(%s, %s, %d bytes)", c.Type, c.MIMEType, len(c.Data))
	case tool.ResourceContent:
		return strings.TrimSpace(c.URI + " " + c.Text)
	default:
		return ""
	}
}

func (a *app) runEventsCommand() *cobra.Command {
	var after int64
	var limit int
	cmd := a.withRun("events", "List a run's events", func(ctx context.Context, c *client.Client, id string) error {
		events, err := c.Events(ctx, id, after, limit)
		if err != nil {
			return err
		}
		return a.printer.show(v1.Page[tool.Event]{Items: events}, func(w io.Writer) error {
			rows := make([][]string, len(events))
			for i, e := range events {
				rows[i] = []string{strconv.FormatInt(e.Seq, 10), stamp(e.At), string(e.Type), e.InvocationID, short(string(e.Data), 120)}
			}
			return table(w, "SEQ AT EVENT INVOCATION DATA", rows)
		})
	})
	cmd.Flags().Int64Var(&after, "after", 0, "number of the last event you have")
	cmd.Flags().IntVar(&limit, "limit", 0, "how many, up to 1000 (default 200)")
	return cmd
}
