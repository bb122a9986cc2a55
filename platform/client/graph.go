package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// ValidateGraph checks the configuration of a graph, and reports all its faults.
func (c *Client) ValidateGraph(ctx context.Context, in v1.ValidateGraph) (v1.ValidatedGraph, error) {
	return post[v1.ValidatedGraph](ctx, c, in, "graphs", "validate")
}

// ShowGraph returns the nodes and pictures of a graph: of its draft, or of a version; with the statuses of the nodes in
// a run unless run is empty.
func (c *Client) ShowGraph(ctx context.Context, name, version, run string) (v1.Graph, error) {
	return get[v1.Graph](ctx, c, query("version", version, "run", run), "tools", name, "graph")
}

// DiffGraph returns what changed between two versions of a graph, node by node; an empty one is the draft.
func (c *Client) DiffGraph(ctx context.Context, name, from, to string) (v1.GraphDiff, error) {
	return get[v1.GraphDiff](ctx, c, query("from", from, "to", to), "tools", name, "graph", "diff")
}

// ExportGraph returns a graph as a document of Open Agent Specification: its draft, or a version.
func (c *Client) ExportGraph(ctx context.Context, name, version string) (v1.ExportedGraph, error) {
	return get[v1.ExportedGraph](ctx, c, query("version", version), "tools", name, "graph", "export")
}

// ImportGraph makes definitions of a document of Open Agent Specification. It writes nothing: see [Client.Apply].
func (c *Client) ImportGraph(ctx context.Context, in v1.ImportGraph) (v1.ImportedGraph, error) {
	return post[v1.ImportedGraph](ctx, c, in, "graphs", "import")
}
