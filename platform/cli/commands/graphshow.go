package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/draw"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) graphShowCommand() *cobra.Command {
	var svg, mermaid bool
	var run string
	cmd := cli.Describe(&cobra.Command{
		Use: "show GRAPH|FILE", Short: "List the nodes of a graph, or draw it", Args: cli.Operands("graph or file"),
		ValidArgsFunction: a.completeGraphs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if svg && mermaid || a.Printer.JSON && (svg || mermaid) {
				return cli.Usagef("give one of --svg, --mermaid and --json")
			}
			source, err := a.readGraph(cmd.Context(), cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			p := draw.Of(source.title, &source.definition)
			if run != "" {
				statuses, err := a.nodeStatuses(cmd.Context(), source, run)
				if err != nil {
					return err
				}
				p.Run(statuses)
			}
			switch {
			case svg:
				_, err = fmt.Fprint(a.Printer.Out, p.SVG())
			case mermaid:
				_, err = fmt.Fprint(a.Printer.Out, p.Mermaid())
			default:
				err = a.showSteps(source, p)
			}
			return err
		},
	}, `Lists the nodes of the draft of a graph, of a version, as in checkOrders@1.0.0, or of
a file, with where they lead. --svg draws it as a picture, and --mermaid as a flowchart
for Markdown. With --run each node has its status in that run, and those of maps and
loops are counted; where the run called the graph several times, the last one counts.`,
		`  toolcrib graph show checkOrders
  toolcrib graph show checkOrders@1.0.0 --svg > checkOrders.svg
  toolcrib graph show checkOrders.yaml --mermaid
  toolcrib graph show checkOrders --run 01987a3c-0000-7000-8000-000000000001`)
	cmd.Flags().BoolVar(&svg, "svg", false, "draw it, as SVG")
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, "draw it, as a flowchart of Mermaid")
	cmd.Flags().StringVar(&run, "run", "", "the run whose statuses are shown")
	return cmd
}

// nodeStatuses returns the statuses of the nodes of a graph in a run, by path.
func (a *app) nodeStatuses(ctx context.Context, source graphSource, run string) (map[string]graph.Status, error) {
	c, err := a.Connect()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if source.sequence {
		return stepStatuses(ctx, c, source.slug, run)
	}
	var called *v1.Invocation // Nil of a configuration alone: nodes of all graphs of the run are its.
	if source.slug != "" {
		if called, err = lastCall(ctx, c, source.slug, run); err != nil || called == nil {
			return nil, err
		}
	}
	page, err := collect(paging{all: true}, func(p client.Page) (v1.Page[v1.Node], error) {
		return c.ListNodes(ctx, run, p)
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string]graph.Status, len(page.Items))
	for _, n := range page.Items {
		if called == nil || n.GraphEffectID == called.EffectID {
			out[n.Path] = n.Status
		}
	}
	return out, nil
}

// stepStatuses returns the statuses of the steps of a composition that a run called. Their calls are
// the record of them.
func stepStatuses(ctx context.Context, c *client.Client, slug, run string) (map[string]graph.Status, error) {
	whole, err := lastCall(ctx, c, slug, run)
	if err != nil || whole == nil {
		return nil, err
	}
	steps, err := c.ListInvocations(ctx, client.InvocationQuery{
		Parent: whole.ID, Page: client.Page{Limit: graph.MaxSequence},
	})
	out := make(map[string]graph.Status, len(steps.Items))
	for _, i := range steps.Items {
		out[graph.StepOf(i.CallID)] = graph.CallStatus(i.Status, i.IsError)
	}
	return out, err
}

// lastCall returns the last call of a tool in a run; nil where there is none.
func lastCall(ctx context.Context, c *client.Client, slug, run string) (*v1.Invocation, error) {
	found, err := c.ListInvocations(ctx, client.InvocationQuery{Run: run, Tool: slug, Page: client.Page{Limit: 1}})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}

func (a *app) showSteps(source graphSource, p *draw.Picture) error {
	steps := p.Outline()
	shown := struct {
		Name       string            `json:"name"`
		Steps      []draw.Step       `json:"steps"`
		Definition *graph.Definition `json:"definition"`
	}{source.title, steps, &source.definition}
	return a.Printer.Show(shown, func(w io.Writer) error {
		rows := make([][]string, len(steps))
		for i, s := range steps {
			status := strings.TrimSpace(s.Status + " " + s.Badge)
			rows[i] = []string{strings.Repeat("  ", s.Depth) + s.Node, s.Kind, status, s.Leads, s.Detail}
		}
		return terminal.Table(w, "NODE KIND STATUS LEADS-TO~ WHAT~", rows)
	})
}

func (a *app) completeGraphs(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.graphs(cmd, args, typed)
}

// graphs completes the slugs of graphs and compositions; a shell adds files.
func (a *app) graphs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	found, _ := a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		var names []string
		for _, impl := range []tool.Implementation{tool.Graph, tool.Composition} {
			page, err := collect(paging{limit: completionNames}, func(p client.Page) (v1.Page[v1.Tool], error) {
				return c.ListTools(ctx, client.ToolQuery{Implementation: impl, Search: searchable(typed), Page: p})
			})
			if err != nil {
				return names, err
			}
			names = append(names, each(page.Items, func(t v1.Tool) string {
				return t.Slug + "\t" + terminal.Shorten(t.Description, 60)
			})...)
		}
		return names, nil
	})
	return found, cobra.ShellCompDirectiveDefault
}
