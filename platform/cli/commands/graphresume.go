package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) graphResumeCommand() *cobra.Command {
	var in v1.NewCall
	var from, args, file string
	var wait time.Duration
	cmd := cli.Describe(&cobra.Command{
		Use: "resume RUN", Short: "Call a graph again from a node on", Args: cli.Operands("run id or invocation id"),
		ValidArgsFunction: a.completeRuns,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, operands []string) error {
			before, err := graphCallOf(cmd.Context(), c, operands[0])
			if err != nil {
				return err
			}
			if in.Arguments, err = readArguments(cmd.InOrStdin(), args, file); err != nil {
				return err
			}
			seconds := wait.Seconds()
			in.Mode, in.WaitS, in.Resume = before.Mode, &seconds, &v1.Resume{Invocation: before.ID, Node: from}
			return a.call(cmd.Context(), c, c.CallTool, before.Tool, in)
		}),
	}, `Makes a new call of a graph that begins with a node which an ended call of it came to:
the last one that failed, or --from. What was before that node is not done again; its
results and the state are those of the ended call. A node of a body can't be begun with:
name the map, loop or parallel node around it, all of whose bodies run again.

Arguments and version are those of the ended call, unless others are given: a node that
failed may be mended in a new version.`,
		`  toolcrib graph resume 01987a3c-0000-7000-8000-000000000001
  toolcrib graph resume 01987a3c-0000-7000-8000-000000000001 --from judge --version 1.0.1
  toolcrib graph resume 01987a3c-0000-7000-8000-000000000001 --args '{"orders": ["SO-1007"]}'`)
	cmd.Flags().StringVar(&from, "from", "", "the node to begin with; the last one that failed when left out")
	cmd.Flags().StringVarP(&args, "args", "a", "", "other arguments, a JSON object")
	cmd.Flags().StringVar(&file, "args-file", "", "file with other arguments; - for the standard input")
	cmd.Flags().StringVar(&in.Version, "version", "", "another version, or a constraint")
	cmd.Flags().StringVar(&in.ID, "id", "", "makes the call one, however often it is asked for")
	cmd.Flags().DurationVar(&wait, "wait", 30*time.Second, "how long to wait for the answer, up to 60s")
	return cmd
}

// graphCallOf returns the call of a graph that an id means: that of a call, or of a run with one such call
// of its own.
func graphCallOf(ctx context.Context, c *client.Client, id string) (v1.Invocation, error) {
	found, err := c.Invocation(ctx, id)
	if err == nil || tool.KindOf(err) != tool.NotFound {
		return found, err
	}
	page, err := c.ListInvocations(ctx, client.InvocationQuery{Run: id})
	if err != nil {
		return v1.Invocation{}, err
	}
	var graphs []v1.Invocation
	for _, i := range page.Items {
		if i.Implementation == tool.Graph && i.ParentID == "" {
			graphs = append(graphs, i)
		}
	}
	switch len(graphs) {
	case 0:
		return v1.Invocation{}, &tool.Error{
			Kind: tool.NotFound, Msg: id + " is no call of a graph, and no run that made one",
		}
	case 1:
		return graphs[0], nil
	}
	return v1.Invocation{}, &tool.Error{Kind: tool.Conflict, Msg: fmt.Sprintf(
		"the run made %d calls of graphs: name one, as toolcrib invocations list --run %s shows them", len(graphs), id)}
}
