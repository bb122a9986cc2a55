package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// Tools that find and call others, for keys with more tools than a model is shown.
const (
	searchTools  = "searchTools"
	describeTool = "describeTool"
	callTool     = "callTool"
)

const (
	foundDefault = 10
	foundMost    = 50
	maxQuery     = 400 // Bytes.
	maxSummary   = 240 // Bytes of the description of a tool that was found.
)

// finders returns the tools that find and call others.
func finders() []*mcp.Tool {
	yes, no := true, false
	return []*mcp.Tool{
		{
			Name: callTool, Title: "Call a tool",
			Description: "Calls a tool that searchTools found. Read its input schema with " +
				"describeTool first. The answer is that of the tool.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"name":{"type":"string","description":"The name of the tool."},` +
				`"arguments":{"type":"object","description":"The arguments of the tool, by its input schema."}},` +
				`"required":["name"],"additionalProperties":false}`),
			Annotations: &mcp.ToolAnnotations{Title: "Call a tool", DestructiveHint: &yes, OpenWorldHint: &yes},
		},
		{
			Name: describeTool, Title: "Describe a tool",
			Description: "Returns the description and the schemas of a tool by its name.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"name":{"type":"string","description":"The name of the tool."}},"required":["name"],"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"name":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"},` +
				`"inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"type":"object"}},` +
				`"required":["name","inputSchema"]}`),
			Annotations: &mcp.ToolAnnotations{
				Title: "Describe a tool", ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no,
			},
		},
		{
			Name: searchTools, Title: "Search tools",
			Description: "Finds tools by what they do, the best first. There are too many " +
				"to list: search with a few words, such as \"refund an order\", before you say that there is no tool for a task.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"query":{"type":"string","minLength":1,"maxLength":400,"description":"What the tool should do, in a few words."},` +
				`"limit":{"type":"integer","minimum":1,"maximum":50,"default":10}},"required":["query"],"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"tools":{"type":"array","description":"The best of those found, the best first.",` +
				`"items":{"type":"object","properties":{"name":{"type":"string"},"title":{"type":"string"},` +
				`"description":{"type":"string"},` +
				`"required":{"type":"array","items":{"type":"string"},"description":"Arguments that it needs."},` +
				`"read_only":{"type":"boolean"}},"required":["name","description","read_only"]}},` +
				`"found":{"type":"integer","description":"How many tools match."},` +
				`"of":{"type":"integer","description":"How many tools there are."}},"required":["tools","found","of"]}`),
			Annotations: &mcp.ToolAnnotations{
				Title: "Search tools", ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no,
			},
		},
	}
}

// call answers tools/call: of a tool of the caller, of one behind the gate of views where it is open, or of one that
// finds others where those are offered.
func (s *Server) call(ctx context.Context, of *session, c *Caller, req *mcp.CallToolRequest) (mcp.Result, error) {
	name := req.Params.Name
	if gated(name) {
		open, err := s.gateOpen(ctx, c)
		if err != nil {
			return nil, err
		}
		if open {
			return s.callGated(ctx, c, req)
		}
	}
	if name != searchTools && name != describeTool && name != callTool {
		return s.callTool(ctx, of, c, req)
	}
	short, cancel := c.short(ctx)
	defer cancel()
	searches, err := s.searches(short, c)
	switch {
	case err != nil:
		return nil, err
	case !searches:
		return s.callTool(ctx, of, c, req)
	case name == callTool:
		return s.callFound(ctx, of, c, req)
	}
	if err := may(c, s.cfg.ListPermission); err != nil {
		return nil, err
	}
	var answer any
	if name == searchTools {
		answer, err = s.search(short, c, req.Params.Arguments)
	} else {
		answer, err = s.describe(short, c, req.Params.Arguments, req.ProtocolVersion() >= statelessSince)
	}
	if err != nil {
		if tool.KindOf(err) == tool.InternalError {
			return nil, err
		}
		return refused(err, ""), nil // A model can act on it.
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("writing what was found: %w", err)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}, StructuredContent: json.RawMessage(raw),
	}, nil
}

// callFound calls the tool that the arguments name, as if the client had called it itself.
func (s *Server) callFound(ctx context.Context, of *session, c *Caller, req *mcp.CallToolRequest) (mcp.Result, error) {
	var in struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := arguments(req.Params.Arguments, &in); err != nil {
		return refused(err, ""), nil
	}
	params := *req.Params
	params.Name, params.Arguments = in.Name, in.Arguments
	if string(params.Arguments) == "null" {
		params.Arguments = nil
	}
	found := *req
	found.Params = &params
	result, err := s.callTool(ctx, of, c, &found)
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return failed(e.Message+": find tools with "+searchTools, tool.NotFound, ""), nil
	}
	return result, err
}

// arguments reads the arguments of a tool that finds others.
func arguments(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return &tool.Error{
			Kind: tool.Invalid, Op: "mcpserver", Path: "/arguments",
			Msg: "expected the arguments that the tool's input schema describes",
		}
	}
	return nil
}

// summary is a tool that was found.
type summary struct {
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description"`
	Required    []string `json:"required,omitempty"` // Arguments.
	ReadOnly    bool     `json:"read_only"`
}

// search finds tools by a query.
func (s *Server) search(ctx context.Context, c *Caller, raw json.RawMessage) (any, error) {
	in := struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}{Limit: foundDefault}
	if err := arguments(raw, &in); err != nil {
		return nil, err
	}
	switch {
	case in.Query == "" || len(in.Query) > maxQuery:
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "mcpserver.search", Path: "/arguments/query",
			Msg: "expected a few words, of at most 400 bytes",
		}
	case in.Limit < 1 || in.Limit > foundMost:
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "mcpserver.search", Path: "/arguments/limit",
			Msg: fmt.Sprintf("expected 1 to %d", foundMost),
		}
	}
	catalogue, err := s.catalogues.of(ctx, c)
	if err != nil {
		return nil, err
	}
	hits, count := catalogue.index.Search(in.Query, foundMost)
	out := struct {
		Tools []summary `json:"tools"`
		Found int       `json:"found"` // Of which the best are shown.
		Of    int       `json:"of"`
	}{Tools: []summary{}, Found: count, Of: len(catalogue.slugs)}
	for _, hit := range hits {
		if len(out.Tools) == in.Limit {
			break
		}
		found, err := s.resolve(ctx, c, catalogue.slugs[hit.Document])
		if tool.KindOf(err) == tool.NotFound && err != nil {
			out.Found-- // It is gone since.
			continue
		}
		if err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, summaryOf(found))
	}
	return out, nil
}

func summaryOf(found *resolver.Resolved) summary {
	d := &found.Version.Snapshot.Definition
	var input struct {
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(d.InputSchema, &input) // Without, nothing is required.
	text := d.Description
	if len(text) > maxSummary {
		from, to := tool.CutText(text, 0, maxSummary)
		text = text[from:to] + "…"
	}
	return summary{
		Name: found.Tool.Slug, Title: d.Name, Description: text, Required: input.Required,
		ReadOnly: hints(&found.Tool, d).ReadOnlyHint,
	}
}

// describe returns a tool as lists show it.
func (s *Server) describe(ctx context.Context, c *Caller, raw json.RawMessage, anyOutput bool) (any, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := arguments(raw, &in); err != nil {
		return nil, err
	}
	found, err := s.resolve(ctx, c, in.Name)
	if err != nil {
		return nil, err
	}
	return describe(&found.Tool, found.Version, anyOutput), nil
}

// resolve returns a tool that the caller may call. What they may not is absent.
func (s *Server) resolve(ctx context.Context, c *Caller, name string) (*resolver.Resolved, error) {
	absent := &tool.Error{
		Kind: tool.NotFound, Op: "mcpserver.resolve",
		Msg: fmt.Sprintf("unknown tool %q: find tools with %s", clip(name), searchTools),
	}
	if !tool.ValidSlug(name) {
		return nil, absent
	}
	found, err := s.cfg.Tools.Resolve(ctx, resolver.Request{
		Principal: c.Principal, Ref: tool.Ref{Slug: name}, Mode: tool.Production, Outside: true, Within: c.within(),
	})
	gone := []tool.Kind{tool.NotFound, tool.Denied, tool.Conflict}
	switch {
	case err != nil && slices.Contains(gone, tool.KindOf(err)), err == nil && !offered(&found.Tool):
		return nil, absent
	case err != nil:
		return nil, err //nolint:wrapcheck // Its words are the client's.
	}
	return found, nil
}
