package cli

import (
	"context"
	"encoding/json"
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

func (a *app) runCommand() *cobra.Command {
	return group("run", "Start, follow and look at runs of agents",
		a.runStartCommand(), a.runGetCommand(), a.runListCommand(), a.runWaitCommand(),
		a.runMessagesCommand(), a.runEventsCommand(), a.runCancelCommand())
}

func (a *app) runStartCommand() *cobra.Command {
	var in v1.NewRun
	var text, file, mode string
	var wait bool
	cmd := &cobra.Command{
		Use:   "start AGENT",
		Short: "Start a run of an agent",
		Example: `  toolcrib run start supportDesk --input "Where is my order?" --wait
  toolcrib run start supportDesk@^1.2 --input-file ticket.json --mode debug`,
		Args: operands("agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			in.Agent, in.Mode = args[0], tool.Mode(mode)
			if in.Input, err = readInput(cmd.InOrStdin(), text, file); err != nil {
				return err
			}
			return a.startRun(cmd.Context(), in, wait)
		},
	}
	cmd.Flags().StringVarP(&text, "input", "i", "", "what the user says; JSON other than a string is sent as it is")
	cmd.Flags().StringVar(&file, "input-file", "", "file with the input; - for the standard input")
	cmd.Flags().StringVar(&in.Version, "version", "", "version or constraint of the agent")
	cmd.Flags().StringVar(&mode, "mode", string(tool.Production), "production, or debug to use drafts")
	cmd.Flags().BoolVarP(&wait, "wait", "w", false, "follow the run until it ends, and print each call")
	return cmd
}

// readInput returns the input of a run as JSON: an object or array as it
// stands, anything else as text.
func readInput(stdin io.Reader, text, file string) (json.RawMessage, error) {
	switch {
	case text != "" && file != "":
		return nil, usage("give one of --input and --input-file")
	case text == "" && file == "":
		return nil, usage("a run needs an input: give --input or --input-file")
	case file != "":
		raw, err := readFile(file, stdin)
		if err != nil {
			return nil, &tool.Error{Kind: tool.NotFound, Msg: "reading the input: " + err.Error(), Err: err}
		}
		text = string(raw)
	}
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if json.Valid([]byte(trimmed)) {
			return json.RawMessage(trimmed), nil
		}
	}
	return json.Marshal(text)
}

func (a *app) startRun(ctx context.Context, in v1.NewRun, wait bool) error {
	c, err := a.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	run, err := c.StartRun(ctx, in)
	if err != nil {
		return err
	}
	if wait {
		if err := a.printer.say("run %s of %s", run.ID, clean(run.Agent)); err != nil {
			return err
		}
		return a.follow(ctx, c, run.ID)
	}
	return a.printer.show(run, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\nfollow it with: toolcrib run wait %s\n", run.ID, run.ID)
		return err
	})
}

// withRun makes a command that takes a run's id.
func (a *app) withRun(use, short string, fn func(ctx context.Context, c *client.Client, id string) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " RUN", Short: short, Args: operands("run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			defer c.Close()
			return fn(cmd.Context(), c, args[0])
		},
	}
}

func (a *app) runGetCommand() *cobra.Command {
	return a.withRun("get", "Show a run", func(ctx context.Context, c *client.Client, id string) error {
		run, err := c.Run(ctx, id)
		if err != nil {
			return err
		}
		return a.printer.show(run, func(w io.Writer) error { return writeRun(w, run) })
	})
}

func writeRun(w io.Writer, r v1.Run) error {
	pins := make([]string, len(r.Tools))
	for i, pin := range r.Tools {
		pins[i] = pin.Tool + "@" + pin.Version
	}
	failed := ""
	if r.ErrorKind != "" {
		failed = string(r.ErrorKind) + ": " + r.Error
	}
	return pairs(w,
		"run", r.ID, "kind", string(r.Kind), "agent", versioned(r.Agent, r.AgentVersion), "mode", string(r.Mode),
		"status", string(r.Status), "turns", strconv.Itoa(r.Turns), "tools", strings.Join(pins, " "),
		"created", stamp(r.CreatedAt), "started", stampOf(r.StartedAt), "completed", stampOf(r.CompletedAt),
		"workflow", r.WorkflowID, "error", failed, "output", r.Output)
}

func versioned(name, version string) string {
	if version == "" {
		return name
	}
	return name + "@" + version
}

func (a *app) runListCommand() *cobra.Command {
	var q client.RunQuery
	var status, kind string
	cmd := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			defer c.Close()
			q.Status, q.Kind = agent.RunStatus(status), agent.RunKind(kind)
			page, err := c.ListRuns(cmd.Context(), q)
			if err != nil {
				return err
			}
			return a.printer.show(page, func(w io.Writer) error { return writeRuns(w, page) })
		},
	}
	cmd.Flags().StringVar(&status, "status", "", "pending, running, completed, failed, cancelled or hosted")
	cmd.Flags().StringVar(&kind, "kind", "", "agent, tool_call or host")
	cmd.Flags().StringVar(&q.Agent, "agent", "", "slug or id of the agent")
	pageFlags(cmd, &q.Page)
	return cmd
}

func writeRuns(w io.Writer, page v1.Page[v1.Run]) error {
	rows := make([][]string, len(page.Items))
	for i, r := range page.Items {
		rows[i] = []string{
			r.ID, string(r.Kind), versioned(r.Agent, r.AgentVersion), string(r.Mode), string(r.Status),
			strconv.Itoa(r.Turns), stamp(r.CreatedAt),
		}
	}
	if err := table(w, "RUN KIND AGENT MODE STATUS TURNS CREATED", rows); err != nil {
		return err
	}
	return more(w, page.Next)
}

func pageFlags(cmd *cobra.Command, p *client.Page) {
	cmd.Flags().IntVar(&p.Limit, "limit", 0, "how many, up to 200 (default 50)")
	cmd.Flags().StringVar(&p.Cursor, "cursor", "", "where to go on: what the page before gave")
}

func (a *app) runCancelCommand() *cobra.Command {
	return a.withRun("cancel", "Ask a run to stop", func(ctx context.Context, c *client.Client, id string) error {
		run, err := c.CancelRun(ctx, id)
		if err != nil {
			return err
		}
		return a.printer.show(run, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "asked %s to stop\n", run.ID)
			return err
		})
	})
}
