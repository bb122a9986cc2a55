package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/draw"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
)

// reviewed is the graph that is shown, and reviewEmail the customer whom it is called for.
const (
	reviewed    = "reviewCustomer"
	reviewEmail = "ada@example.com"
)

// playGraph shows a graph: a call of it, its nodes, and a picture of them.
func (d *demo) playGraph(ctx context.Context) error {
	var call v1.Call
	var nodes []v1.Node
	d.say("\n  A graph\n")
	err := d.step("call the graph "+reviewed, func() (_ string, err error) {
		args, err := json.Marshal(map[string]string{"email": reviewEmail})
		if err != nil {
			return "", fmt.Errorf("encoding the arguments: %w", err)
		}
		if call, err = d.api.CallTool(ctx, reviewed, v1.NewCall{Arguments: args}); err != nil {
			return "", err
		}
		if call.Result == nil {
			return "", errors.New("it is still running")
		}
		d.graph = call.RunID
		page, err := d.api.ListNodes(ctx, call.RunID, client.Page{Limit: 200})
		nodes = page.Items
		return fmt.Sprintf("%d nodes: %s", len(nodes), call.Result.Structured), err
	})
	if err != nil {
		return err
	}
	err = d.step("draw it", func() (string, error) { return d.drawGraph(ctx, nodes) })
	if err != nil {
		return err
	}
	return judgeGraph(call, nodes)
}

// drawGraph writes a picture of the graph with the statuses of its nodes, and returns its path.
func (d *demo) drawGraph(ctx context.Context, nodes []v1.Node) (string, error) {
	version, err := d.api.ToolVersion(ctx, reviewed, "1.0.0")
	if err != nil {
		return "", err
	}
	g, err := graph.Parse(version.Definition.Config, version.Definition.InputSchema)
	if err != nil {
		return "", fmt.Errorf("reading the graph: %w", err)
	}
	picture := draw.Of(version.Definition.Name, &g.Definition)
	statuses := map[string]graph.Status{}
	for _, n := range nodes {
		statuses[n.Path] = n.Status
	}
	picture.Run(statuses)
	path := filepath.Join(d.cfg.DataDir, reviewed+".svg")
	return path, os.WriteFile(path, []byte(picture.SVG()), 0o600)
}

// judgeGraph requires what the graph is to find, and that no node failed.
func judgeGraph(call v1.Call, nodes []v1.Node) error {
	var errs []error
	if !strings.Contains(string(call.Result.Structured), `"verdict":"call"`) {
		errs = append(errs, fmt.Errorf("the graph found %s", call.Result.Structured))
	}
	for _, n := range nodes {
		if n.Status != graph.Completed {
			errs = append(errs, fmt.Errorf("node %s is %s: %s", n.Path, n.Status, n.Error))
		}
	}
	return errors.Join(errs...)
}
