package commands

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) runMessagesCommand() *cobra.Command {
	return cli.Describe(a.withRun("messages", "Show a run's transcript",
		func(ctx context.Context, c *client.Client, id string) error {
			messages, err := c.Messages(ctx, id)
			if err != nil {
				return err
			}
			return a.Printer.Show(v1.Page[agent.Message]{Items: messages}, func(w io.Writer) error {
				for _, m := range messages {
					if err := writeMessage(w, m); err != nil {
						return err
					}
				}
				return nil
			})
		}), `Shows what was said in a run, by turns: the user, the model, the calls it made and
what the tools answered.`, `  toolcrib run messages 01987a3c-0000-7000-8000-000000000001`)
}

func writeMessage(w io.Writer, m agent.Message) error {
	head := terminal.Clean(string(m.Role))
	if m.CallID != "" {
		head += " " + terminal.Clean(m.CallID)
	}
	if m.IsError {
		head += " (error)"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%d] %s\n", m.Turn, head)
	for _, block := range m.Content {
		if text := contentText(block); text != "" {
			fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(terminal.CleanLines(text), "\n", "\n    "))
		}
	}
	for _, call := range m.Calls {
		fmt.Fprintf(&b, "    → %s %s(%s)\n", terminal.Clean(call.ID), terminal.Clean(call.Name),
			terminal.Shorten(string(call.Arguments), 200))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func contentText(c tool.Content) string {
	switch c.Type {
	case tool.ContentText:
		return c.Text
	case tool.ContentJSON:
		return string(c.JSON)
	case tool.ContentImage, tool.ContentAudio:
		return fmt.Sprintf("(%s, %s, %d bytes)", c.Type, c.MIMEType, len(c.Data))
	case tool.ContentResource:
		return strings.TrimSpace(c.URI + " " + c.Text)
	default:
		return ""
	}
}

// Limits of how many events are fetched at once.
const (
	defaultEvents = 200
	maxEvents     = 1000
)

func (a *app) runEventsCommand() *cobra.Command {
	var after int64
	var limit int
	var all bool
	cmd := cli.Describe(a.withRun("events", "List a run's events",
		func(ctx context.Context, c *client.Client, id string) error {
			events, err := collectEvents(ctx, c, id, after, limit, all)
			if err != nil {
				return err
			}
			return a.Printer.Show(v1.Page[tool.Event]{Items: events}, func(w io.Writer) error {
				if len(events) == 0 {
					_, err := fmt.Fprintln(a.Env.Err, "no events yet: nothing of the run has begun")
					return err
				}
				rows := make([][]string, len(events))
				for i, e := range events {
					rows[i] = []string{
						strconv.FormatInt(e.Seq, 10), terminal.Stamp(e.At), string(e.Type), e.InvocationID,
						terminal.Shorten(string(e.Data), 120),
					}
				}
				return terminal.Table(w, "SEQ AT EVENT INVOCATION DATA~", rows)
			})
		}), `Lists what happened in a run, in order. Events are numbered without gaps: ask for
those after the last that you have.`, `  toolcrib run events 01987a3c-0000-7000-8000-000000000001 --after 12
  toolcrib run events 01987a3c-0000-7000-8000-000000000001 --all --json`)
	cmd.Flags().Int64Var(&after, "after", 0, "number of the last event you have")
	cmd.Flags().IntVar(&limit, "limit", 0, fmt.Sprintf("how many at most (default %d)", defaultEvents))
	cmd.Flags().BoolVar(&all, "all", false, "everything there is")
	return cmd
}

// collectEvents fetches as many events as are asked for.
func collectEvents(
	ctx context.Context, c *client.Client, id string, after int64, limit int, all bool,
) ([]tool.Event, error) {
	switch {
	case limit < 0:
		return nil, cli.Usagef("--limit %d: expected 1 or more, or --all", limit)
	case all && limit > 0:
		return nil, cli.Usagef("give one of --all and --limit")
	case limit == 0:
		limit = defaultEvents
	}
	out := []tool.Event{}
	for all || len(out) < limit {
		want := maxEvents
		if !all {
			want = min(want, limit-len(out))
		}
		events, err := c.Events(ctx, id, after, want)
		if err != nil {
			return nil, err
		}
		out = append(out, events...)
		if len(events) < want {
			break
		}
		after = events[len(events)-1].Seq
	}
	return out, nil
}
