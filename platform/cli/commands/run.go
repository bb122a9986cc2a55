package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) runCommand() *cobra.Command {
	return cli.Describe(cli.Group("run", "Start, follow and look at runs of agents",
		a.runStartCommand(), a.runFollowCommand(), a.runWaitCommand(), a.runListCommand(), a.runShowCommand(),
		a.runMessagesCommand(), a.runSayCommand(), a.runRerunCommand(), a.runEventsCommand(), a.runNodesCommand(),
		a.runUsageCommand(), a.runPauseCommand(), a.runResumeCommand(), a.runCancelCommand()),
		`A run is an agent at work, durably: it goes on when this command, the server or a
worker ends. Single calls of tools are runs too.`,
		`  toolcrib run start supportDesk --input "Where is my order?" --wait
  toolcrib run list --status running
  toolcrib run messages 01987a3c-0000-7000-8000-000000000001`)
}

func (a *app) runStartCommand() *cobra.Command {
	var in v1.NewRun
	var text, file, mode string
	var wait, follow bool
	cmd := &cobra.Command{
		Use:   "start AGENT",
		Short: "Start a run of an agent",
		Long: `Starts a run and prints its id; with --follow it shows the run live, with --wait
it prints each call as it ends. A version or constraint may stand behind the agent's name.`,
		Example: `  toolcrib run start supportDesk --input "Where is my order?" --follow
  toolcrib run start supportDesk@^1.2 --input-file ticket.json --mode debug`,
		Args:              cli.Operands("agent"),
		ValidArgsFunction: a.completeAgents,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			in.Agent, in.Mode = args[0], tool.Mode(mode)
			if in.Input, err = readInput(cmd.InOrStdin(), text, file); err != nil {
				return err
			}
			return a.startRun(cmd.Context(), in, wait, follow)
		},
	}
	cmd.Flags().StringVarP(&text, "input", "i", "", "what the user says; JSON other than a string is sent as it is")
	cmd.Flags().StringVar(&file, "input-file", "", "file with the input; - for the standard input")
	cmd.Flags().StringVar(&in.Version, "version", "", "version or constraint of the agent")
	cmd.Flags().StringVar(&mode, "mode", string(tool.Production), "production, or debug to use drafts")
	begunFlags(cmd, &wait, &follow)
	return cmd
}

// readInput returns the input of a run as JSON: an object or array unchanged,
// anything else as text.
func readInput(stdin io.Reader, text, file string) (json.RawMessage, error) {
	switch {
	case text != "" && file != "":
		return nil, cli.Usagef("give one of --input and --input-file")
	case text == "" && file == "":
		return nil, cli.Usagef("a run needs an input: give --input or --input-file")
	case file != "":
		raw, err := definition.ReadFile(file, stdin)
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

func (a *app) startRun(ctx context.Context, in v1.NewRun, wait, follow bool) error {
	c, err := a.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	in.Follow = follow
	run, err := c.StartRun(ctx, in)
	if err != nil {
		return a.suggestAgent(ctx, c, in.Agent, err)
	}
	return a.began(ctx, c, run, wait, follow)
}

// withRun makes a command that takes a run's id.
func (a *app) withRun(
	use, short string, fn func(ctx context.Context, c *client.Client, id string) error,
) *cobra.Command {
	return &cobra.Command{
		Use: use + " RUN", Short: short, Args: cli.Operands("run"), ValidArgsFunction: a.completeRuns,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return fn(cmd.Context(), c, args[0])
		}),
	}
}

func (a *app) runShowCommand() *cobra.Command {
	cmd := cli.Describe(a.withRun("show", "Show a run", func(ctx context.Context, c *client.Client, id string) error {
		run, err := c.ExplainRun(ctx, id)
		if err != nil {
			return err
		}
		return a.Printer.Show(run, func(w io.Writer) error { return writeRun(w, run) })
	}), `Shows how a run stands: its agent and the versions it is pinned to, its status, and
what it answered or why it failed. It tells why calls waited for others of their
turn, and which attempts got no answer of the model.`, `  toolcrib run show 01987a3c-0000-7000-8000-000000000001`)
	cmd.Aliases = []string{"get"}
	return cmd
}

func writeRun(w io.Writer, r v1.Run) error {
	pins := each(r.Tools, func(p v1.Pin) string { return p.Tool + "@" + p.Version })
	omitted := each(r.Omitted, func(o v1.Omission) string { return o.Tool + ": " + o.Reason })
	failed := ""
	if r.ErrorKind != "" {
		failed = string(r.ErrorKind) + ": " + r.Error
	}
	above := ""
	if r.Parent != nil {
		above = r.Parent.RunID
	}
	continues := ""
	if r.Continues != nil {
		continues = fmt.Sprintf("%s after turn %d", r.Continues.RunID, r.Continues.Turn)
	}
	err := terminal.Pairs(w,
		"run", r.ID, "kind", string(r.Kind), "agent", versioned(r.Agent, r.AgentVersion), "tool", r.Tool,
		"mode", string(r.Mode),
		"status", string(r.Status), "paused", writePause(r.Paused), "tainted", writeTaint(r.Taint),
		"asked by", above, "continues", continues,
		"waits", r.Warning,
		"waits for approval", strings.Join(r.WaitsFor, " "),
		"asks", strings.Join(each(r.Asks, writeAsk), "; "), "turns", strconv.Itoa(r.Turns), "tools", strings.Join(pins, " "),
		"omitted", strings.Join(omitted, "; "),
		"created", terminal.StampSince(r.CreatedAt), "started", terminal.StampSinceOf(r.StartedAt),
		"completed", terminal.StampSinceOf(r.CompletedAt), "workflow", r.WorkflowID, "error", failed, "output", r.Output)
	if err != nil {
		return err
	}
	return errors.Join(writeWaits(w, r.Waits), writeModelRetries(w, r))
}

// writeTaint says what tainted a run; nothing where nothing did.
func writeTaint(t *v1.Taint) string {
	if t == nil {
		return ""
	}
	by := "by"
	if t.Source == string(tool.ByLink) {
		by = "by a submission by link, to"
	}
	return fmt.Sprintf("%s %s@%s at %s (call %s)", by, t.Tool, t.Version, terminal.Stamp(t.At), t.InvocationID)
}

// writeAsk tells what a run asks a person, and where the person answers.
func writeAsk(v v1.InputWait) string {
	where := v.ShareURL
	if !strings.Contains(where, "://") { // The server has no public address, or gives none.
		where = "toolcrib inputs link " + v.ViewID
	}
	return terminal.Shorten(v.Title, 60) + ": " + where
}

// writeWaits writes why calls of a run waited for others.
func writeWaits(w io.Writer, waits []v1.CallWait) error {
	if len(waits) == 0 {
		return nil
	}
	rows := make([][]string, len(waits))
	for i, wait := range waits {
		rows[i] = []string{strconv.Itoa(wait.Turn), strconv.Itoa(wait.Calls), strconv.FormatInt(wait.MostMS, 10), wait.Detail}
	}
	return errors.Join(gap(w), terminal.Table(w, "TURN WAITED LONGEST_MS WHY~", rows))
}

// writeModelRetries writes which attempts got no answer of the model, and when
// the next one is due that is still to come.
func writeModelRetries(w io.Writer, r v1.Run) error {
	if len(r.ModelRetries) == 0 {
		return nil
	}
	rows := make([][]string, len(r.ModelRetries))
	for i, m := range r.ModelRetries {
		cause := string(m.Kind) + ": " + m.Cause
		if m.NextModel != "" {
			cause = m.Model + ": " + cause + "; then " + m.NextModel + " was asked"
		}
		rows[i] = []string{
			strconv.Itoa(m.Turn), fmt.Sprintf("%d of %d", m.Attempt, m.MaxAttempts), terminal.Stamp(m.RetryAt), cause,
		}
	}
	return errors.Join(gap(w), terminal.Table(w, "TURN ATTEMPT NEXT_TRY FAILED~", rows))
}

func versioned(name, version string) string {
	if version == "" {
		return name
	}
	return name + "@" + version
}

func (a *app) runListCommand() *cobra.Command {
	var q client.RunQuery
	var since, until string
	cmd := cli.Describe(listCommand(a, "List runs, newest first",
		func(c *client.Client, ctx context.Context, page client.Page) (v1.Page[v1.Run], error) {
			q.Page = page
			return c.ListRuns(ctx, q)
		}, runListing), `Lists runs of agents and single calls of tools, newest first.`,
		`  toolcrib run list --agent supportDesk --since 24h
  toolcrib run list --status failed --all --json`)
	cmd.PreRunE = func(*cobra.Command, []string) error { return period(since, until, &q.Since, &q.Until) }
	cmd.Flags().StringVar((*string)(&q.Status), "status", "", "pending, running, completed, failed, cancelled or hosted")
	cmd.Flags().StringVar((*string)(&q.Kind), "kind", "", "agent, tool_call, tool_test or host")
	cmd.Flags().StringVar(&q.Agent, "agent", "", "slug or id of the agent")
	cmd.Flags().BoolVar(&q.Paused, "paused", false, "only runs that are paused")
	cmd.Flags().StringVar(&q.Parent, "parent", "", "id of the run that asked for them")
	periodFlags(cmd, &since, &until)
	return cmd
}

var runListing = listing[v1.Run]{
	header: "RUN KIND AGENT_OR_TOOL~ MODE STATUS TURNS CREATED",
	row: func(r v1.Run) []string {
		return []string{
			r.ID, string(r.Kind), versioned(cmp.Or(r.Agent, r.Tool), r.AgentVersion), string(r.Mode), statusOf(r),
			strconv.Itoa(r.Turns),
			terminal.Since(r.CreatedAt),
		}
	},
	empty: "no runs yet: start one with toolcrib run start AGENT --input TEXT",
}

func (a *app) runCancelCommand() *cobra.Command {
	cancel := func(ctx context.Context, c *client.Client, id string) error {
		run, err := c.CancelRun(ctx, id)
		if err != nil {
			return err
		}
		return a.Printer.ShowLine(run, "asked %s to stop", terminal.Clean(run.ID))
	}
	return cli.Describe(a.withRun("cancel", "Ask a run to stop", cancel), `Asks a run to stop, and does not wait until it has: calls under way are cancelled
first. "toolcrib run follow" waits.`, `  toolcrib run cancel 01987a3c-0000-7000-8000-000000000001`)
}
