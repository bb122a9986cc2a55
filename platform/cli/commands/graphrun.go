package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/draw"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// graphRun is what `graph run` is asked for.
type graphRun struct {
	call      v1.NewCall
	arguments callArguments
	draft     bool
	svg       string
	detach    bool
}

func (a *app) graphRunCommand() *cobra.Command {
	var in graphRun
	cmd := cli.Describe(&cobra.Command{
		Use: "run GRAPH|FILE", Short: "Run a graph, and watch its nodes", Args: cli.Operands("graph or file"),
		ValidArgsFunction: a.completeGraphs,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return a.runGraph(cmd.Context(), c, cmd.InOrStdin(), args[0], in)
		}),
	}, `Calls a graph and prints each node as it ends, what it waits for and how that is
answered, then the answer of the graph. It waits as long as the run takes; interrupting
the command leaves the run alone. With --detach it prints the id of the run and ends.

A version or constraint may stand behind the name, as in checkOrders@^1.0. With --draft
the draft is run, and drafts of the tools and agents that it uses; what is published
stays as it is. A FILE is saved as a draft first, and then run as --draft does.

The exit code is 0 where the graph answered, 1 where it answered no, and otherwise that
of the failure: toolcrib help exit-codes.`,
		`  toolcrib graph run checkOrders --args '{"orders": ["SO-1007"]}'
  toolcrib graph run checkOrders@^1.0 --arg orders=SO-1007 --svg run.svg
  toolcrib graph run desk/checkOrders.yaml --args-file orders.json
  toolcrib graph run checkOrders --args-file orders.json --detach`)
	flags := cmd.Flags()
	flags.StringVarP(&in.arguments.text, "args", "a", "", "arguments, a JSON object")
	flags.StringVar(&in.arguments.file, "args-file", "", "file with the arguments; - for the standard input")
	flags.StringArrayVar(&in.arguments.pairs, "arg", nil, "an argument, as NAME=VALUE; may be repeated")
	flags.StringVar(&in.call.ID, "id", "", "makes the call one, however often it is asked for")
	flags.BoolVar(&in.draft, "draft", false, "run the draft, and drafts of what it uses")
	flags.StringVar(&in.svg, "svg", "", "file for a picture of the graph with the statuses of its nodes")
	flags.BoolVar(&in.detach, "detach", false, "start the run, print its id, and do not wait")
	return cmd
}

func (a *app) runGraph(ctx context.Context, c *client.Client, stdin io.Reader, operand string, in graphRun) error {
	if in.detach && in.svg != "" {
		return cli.Usagef("--detach does not wait for the statuses that --svg draws: leave one out")
	}
	if operand == "-" && in.arguments.file == "-" {
		return cli.Usagef("the standard input is the graph or the arguments, not both: give one as a file")
	}
	in.call.Mode = tool.Production
	if in.draft {
		in.call.Mode = tool.Debug
	}
	slug, version, _ := strings.Cut(operand, "@")
	if isFile(operand) {
		var err error
		if slug, err = a.saveDraft(ctx, c, stdin, operand); err != nil {
			return err
		}
		version, in.call.Mode = "", tool.Debug
	}
	in.call.Version = version
	source, err := a.callableGraph(ctx, c, slug, in.call)
	if err != nil {
		return err
	}
	if in.call.Arguments, err = in.arguments.read(ctx, c, stdin, slug, in.call); err != nil {
		return err
	}
	now := 0.0
	in.call.WaitS = &now
	a.Called = slug
	call, err := c.CallTool(ctx, slug, in.call)
	if err != nil {
		return err
	}
	for _, warning := range call.Warnings {
		_, _ = fmt.Fprintf(a.Env.Err, "warning: %s\n", terminal.Clean(warning)) // The run matters more.
	}
	if in.detach {
		return a.Printer.ShowLine(call, "run %s: follow it with toolcrib run follow %s",
			terminal.Clean(call.RunID), terminal.Clean(call.RunID))
	}
	return a.followGraph(ctx, c, call.RunID, source, in.svg)
}

// callableGraph returns the graph that a call would run.
func (a *app) callableGraph(ctx context.Context, c *client.Client, slug string, call v1.NewCall) (graphSource, error) {
	e, err := c.ExplainTool(ctx, slug, client.Explain{Version: call.Version, Mode: call.Mode})
	switch {
	case err != nil:
		return graphSource{}, a.suggestTool(ctx, c, slug, err)
	case e.Code != "" && e.Version == "" && !e.Draft: // Such as a version that there is not.
		return graphSource{}, &tool.Error{Kind: e.Code, Msg: e.Detail}
	case e.Draft || e.Version == "":
		return a.graphOf(ctx, c, e.Slug)
	}
	return a.graphOf(ctx, c, e.Slug+"@"+e.Version)
}

// saveDraft saves the graph of a file as a draft, beside the other definitions of the file, and returns its slug.
func (a *app) saveDraft(ctx context.Context, c *client.Client, stdin io.Reader, file string) (string, error) {
	documents, err := definition.Read(ctx, []string{file}, stdin)
	if err != nil {
		return "", err
	}
	graphs := graphsIn(documents)
	switch {
	case len(graphs) == 0:
		return "", noGraph(file)
	case len(graphs) > 1:
		return "", &tool.Error{Kind: tool.Invalid, Msg: fmt.Sprintf(
			"there are %d graphs in %s: put the one that is meant into a file of its own", len(graphs), file)}
	case !graphs[0].whole:
		return "", &tool.Error{Kind: tool.Invalid, Msg: file +
			" is a configuration alone, which has no slug: make it the implementation_config of a tool"}
	}
	if _, faults := graphs[0].parse(); len(faults) > 0 {
		return "", faults[0]
	}
	raw, slug, err := asDraft(graphs[0].Raw)
	if err != nil {
		return "", err
	}
	answer, err := c.Apply(ctx, v1.Apply{Definitions: []json.RawMessage{raw}})
	if err != nil {
		return "", err
	}
	only := []definition.Document{graphs[0].Document}
	a.suggestTools(ctx, c, only, answer.Items)
	items := locate(only, answer.Items)
	if answer.Failed > 0 {
		if err := writeApplied(io.Discard, a.Env.Err, items, false); err != nil {
			return "", err
		}
		return "", &cli.ExitError{Code: worstCode(items)}
	}
	for _, item := range answer.Items {
		if item.Action != v1.Unchanged {
			_, _ = fmt.Fprintf(a.Env.Err, "saved the draft of %s\n", terminal.Clean(slug))
		}
	}
	return slug, nil
}

// asDraft returns a definition that is saved and not published, and its slug.
func asDraft(raw json.RawMessage) (json.RawMessage, string, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, "", fmt.Errorf("reading the definition: %w", err)
	}
	var slug string
	if err := json.Unmarshal(fields["slug"], &slug); err != nil || slug == "" {
		return nil, "", &tool.Error{Kind: tool.Invalid, Path: "/slug", Msg: "the graph has no slug"}
	}
	delete(fields, "publish")
	delete(fields, "status")
	out, err := json.Marshal(fields)
	return out, slug, err
}

// ranGraph is what a run of a graph prints as JSON.
type ranGraph struct {
	Run    v1.Run       `json:"run"`
	Result *tool.Result `json:"result,omitempty"`
	Nodes  []v1.Node    `json:"nodes"`
}

// followGraph prints the nodes of a run as they end, and its answer.
func (a *app) followGraph(ctx context.Context, c *client.Client, id string, source graphSource, svg string) error {
	step, done := a.Steps("running %s", source.title)
	stop := a.reportWaits(ctx, c, id)
	ended := 0
	var after int64
	run, err := c.Watch(ctx, id, func(e tool.Event) error {
		after = e.Seq
		if e.Type == agent.EventNodeEnded {
			ended++
			step(fmt.Sprintf("%d nodes ended", ended))
		}
		if a.Printer.JSON {
			return nil
		}
		return writeGraphEvent(a.Printer.Out, e, a.ApproverFlags())
	}, func(v1.Run) error { return nil })
	stop()
	done()
	if err != nil {
		return a.leave(ctx, &liveView{out: a.Printer.Out}, id, after, err)
	}
	result, err := resultOf(ctx, c, id)
	if err != nil {
		return err
	}
	nodes, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Node], error) {
		return c.ListNodes(ctx, id, p)
	})
	if err != nil {
		return err
	}
	if svg != "" {
		if err := drawRun(svg, source, nodes.Items); err != nil {
			return err
		}
	}
	shown := ranGraph{run, result, append([]v1.Node{}, nodes.Items...)}
	if err := a.Printer.Show(shown, func(w io.Writer) error {
		run.Output = "" // It is the answer, which follows.
		err := writeEnd(w, run)
		if err == nil && result != nil {
			err = writeResult(w, result)
		}
		return err
	}); err != nil {
		return err
	}
	switch {
	case run.Status != agent.RunCompleted:
		return &cli.ExitError{Code: cli.KindCode(cmp.Or(run.ErrorKind, tool.Cancelled))}
	case result != nil && result.IsError:
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return nil
}

// resultOf returns the answer of the call that a run is; nil where it has none.
func resultOf(ctx context.Context, c *client.Client, runID string) (*tool.Result, error) {
	page, err := c.ListInvocations(ctx, client.InvocationQuery{Run: runID, Page: client.Page{Limit: 200}})
	if err != nil {
		return nil, err
	}
	for _, i := range page.Items {
		if i.ParentID != "" {
			continue
		}
		full, err := c.Invocation(ctx, i.ID)
		return full.Output, err
	}
	return nil, nil
}

// drawRun writes a picture of a graph with the statuses of its nodes.
func drawRun(file string, source graphSource, nodes []v1.Node) error {
	statuses := make(map[string]graph.Status, len(nodes))
	for _, n := range nodes {
		statuses[n.Path] = n.Status
	}
	p := draw.Of(source.title, &source.definition)
	p.Run(statuses)
	if err := os.WriteFile(file, []byte(p.SVG()), 0o600); err != nil {
		return &tool.Error{Kind: tool.Invalid, Msg: "writing the picture: " + err.Error(), Err: err}
	}
	return nil
}

// writeGraphEvent writes one line about a node that ended, or about what a run waits for, which who has the key of the
// flags approver decides.
func writeGraphEvent(w io.Writer, e tool.Event, approver string) error {
	switch e.Type { //nolint:exhaustive // Others are of single calls, which run follow shows.
	case tool.EventWarning:
		return writeWarning(w, e)
	case tool.EventNeedsApproval:
		return writeAsked(w, e, approver)
	case tool.EventPending:
		return writeOffered(w, e)
	case agent.EventNodeEnded:
		var n agent.NodeEnded
		if err := json.Unmarshal(e.Data, &n); err != nil {
			return fmt.Errorf("reading event %d: %w", e.Seq, err)
		}
		if n.Path == "" {
			return nil
		}
		line := fmt.Sprintf("  %-32s %-10s %s", terminal.Clean(n.Path), cmp.Or(terminal.Clean(string(n.Kind)), "-"),
			terminal.Clean(n.Status))
		if n.Error != "" {
			line += "  " + terminal.Clean(string(n.ErrorKind)) + ": " + terminal.Shorten(n.Error, 160)
		}
		_, err := fmt.Fprintln(w, line)
		return err
	}
	return nil
}
