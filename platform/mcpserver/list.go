package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// listPage is how many tools a page has.
const listPage = 100

// listTools lists the tools that the caller may call, in the order of their names.
func (s *Server) listTools(ctx context.Context, c *Caller, req *mcp.ListToolsRequest) (mcp.Result, error) {
	if err := may(c, s.cfg.ListPermission); err != nil {
		return nil, err
	}
	open, err := s.gateOpen(ctx, c)
	if err != nil {
		return nil, err
	}
	page := resolver.Page{Limit: listPage}
	if req.Params != nil {
		page.After = req.Params.Cursor
	}
	if page.After == "" { // A client that reads on has begun with all.
		searches, err := s.searches(ctx, c)
		if err != nil {
			return nil, err
		}
		if searches {
			result := &mcp.ListToolsResult{Tools: finders(), Cacheable: mcp.Cacheable{CacheScope: "private"}}
			if open {
				result.Tools = append(result.Tools, gatedTools()...)
			}
			return result, nil
		}
	}
	items, next, err := s.cfg.Tools.List(ctx, c.Principal, tool.Production, c.filter(), page)
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the client's.
	}
	result := &mcp.ListToolsResult{
		Tools: make([]*mcp.Tool, 0, len(items)), NextCursor: next, Cacheable: mcp.Cacheable{CacheScope: "private"},
	}
	anyOutput := req.ProtocolVersion() >= statelessSince
	if open && page.After == "" {
		result.Tools = append(result.Tools, gatedTools()...)
	}
	items = slices.DeleteFunc(items, func(i resolver.Item) bool {
		return !offered(&i.Tool) || open && gated(i.Tool.Slug) // The name is the gated tool's.
	})
	versions, err := s.cfg.Tools.Versions(ctx, c.Principal.Tenant, items)
	if err != nil {
		return nil, fmt.Errorf("reading the versions of tools: %w", err)
	}
	for i, v := range versions {
		result.Tools = append(result.Tools, describe(&items[i].Tool, v, anyOutput))
	}
	return result, nil
}

// offered reports whether a tool is one for models, whom clients act for. The provider's own tools are
// called by the provider of a model alone.
func offered(t *tool.Tool) bool {
	return t.Interaction.ForModels() && t.ImplementationType() != tool.Provider
}

// describe returns a tool as clients are shown it. Clients of older revisions are shown an output schema
// of an object only.
func describe(t *tool.Tool, v *tool.Version, anyOutput bool) *mcp.Tool {
	d := &v.Snapshot.Definition
	shown := &mcp.Tool{
		Name: t.Slug, Title: d.Name, Description: d.Description, InputSchema: inputSchema(d.InputSchema),
		Annotations: hints(t, d),
		Meta:        mcp.Meta{metaVersion: v.Number},
	}
	if len(d.OutputSchema) > 0 && (anyOutput || isObject(d.OutputSchema)) {
		shown.OutputSchema = d.OutputSchema
	}
	return shown
}

// inputSchema returns a schema whose top is an object, which the protocol requires. Definitions may
// leave the type out.
func inputSchema(raw json.RawMessage) json.RawMessage {
	if isObject(raw) {
		return raw
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	members["type"] = json.RawMessage(`"object"`)
	out, err := json.Marshal(members)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return out
}

// isObject reports whether a schema is of objects only.
func isObject(schema json.RawMessage) bool {
	var top struct {
		Type json.RawMessage `json:"type"`
	}
	return json.Unmarshal(schema, &top) == nil && bytes.Equal(top.Type, []byte(`"object"`))
}

// hints returns the annotations of a tool: what its calls may do, as its policy and definition declare
// it. Its own annotations only add to that: they make no call look harmless that the policy takes for
// none. Those of an MCP server's tool are the server's word, so that its changes are never shown as harmless
// for them. Hints are for people, never a boundary.
func hints(t *tool.Tool, d *tool.Definition) *mcp.ToolAnnotations {
	var own struct {
		Destructive *bool `json:"destructive"`
		OpenWorld   *bool `json:"open_world"`
	}
	_ = json.Unmarshal(d.Interaction.Annotations, &own) // Authors may keep anything there.
	class := cmp.Or(t.EgressClass, tool.EgressNone)
	readOnly := d.Execution.Pure || class == tool.EgressReadOnly
	destructive, open := !readOnly, class != tool.EgressNone
	if own.Destructive != nil && !readOnly && d.ImplementationType() != tool.MCP {
		destructive = *own.Destructive
	}
	if own.OpenWorld != nil {
		open = open || *own.OpenWorld
	}
	return &mcp.ToolAnnotations{
		Title: d.Name, ReadOnlyHint: readOnly, DestructiveHint: &destructive, IdempotentHint: d.Execution.Repeatable(),
		OpenWorldHint: &open,
	}
}
