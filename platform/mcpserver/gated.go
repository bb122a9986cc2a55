package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/platform/views"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

// The two internal tools behind the gate of views. They are in no registry, and offered to MCP clients alone.
const (
	publishView        = "publish_view"
	submitViewResponse = "submit_view_response"
)

// Views publishes views and takes responses. [views.Service] implements it.
type Views interface {
	Enabled(ctx context.Context, tenant tool.TenantID) (bool, error)
	Publish(ctx context.Context, r views.Request) (views.Published, error)
	Respond(ctx context.Context, r views.Response) (runs.Submitted, error)
}

// gated reports whether a name is that of a tool behind the gate of views.
func gated(name string) bool { return name == publishView || name == submitViewResponse }

// gateOpen reports whether a caller is offered the tools that publish views and submit responses: it may make calls
// and publish, and its tenant publishes views. A toolset has the tools that were chosen for it, and these are none of
// them.
func (s *Server) gateOpen(ctx context.Context, c *Caller) (bool, error) {
	if s.cfg.Views == nil || c.Offer != nil ||
		!c.Principal.May(s.cfg.CallPermission) || !c.Principal.May(s.cfg.PublishPermission) {
		return false, nil
	}
	on, err := s.cfg.Views.Enabled(ctx, c.Principal.Tenant)
	if err != nil {
		return false, fmt.Errorf("looking at the switch for publishing: %w", err)
	}
	return on, nil
}

// gatedTools are the tools behind the gate, as clients see them.
func gatedTools() []*mcp.Tool {
	yes, no := true, false
	return []*mcp.Tool{
		{
			Name: publishView, Title: "Publish a view",
			Description: "Publishes a view that displays the result of a call that this key made (kind result, with the " +
				"run_id that the answer of the call has as " + metaRunID + "), or what a tool does and takes (kind tool). " +
				"It returns " +
				"the URL of a page that everyone who has it can open without a login, until it expires. Publish only what the " +
				"user asked to share. Forms are not published.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"kind":{"type":"string","enum":["result","tool"],"description":"What the page displays."},` +
				`"run_id":{"type":"string","description":"Of kind result: the run of the call."},` +
				`"tool":{"type":"string","description":"Of kind tool: the name of the tool."},` +
				`"title":{"type":"string","maxLength":200,"description":"The title of the page. Defaults to the name of the tool."},` +
				`"description":{"type":"string","maxLength":2000,"description":"What the page says above the view."},` +
				`"expires_in_seconds":{"type":"integer","minimum":60,"maximum":31536000,"default":604800}},` +
				`"required":["kind"],"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"view_id":{"type":"string"},"url":{"type":"string"},` +
				`"expires_at":{"type":"string","format":"date-time"}},"required":["view_id","url","expires_at"]}`),
			Annotations: &mcp.ToolAnnotations{Title: "Publish a view", DestructiveHint: &no, OpenWorldHint: &yes},
		},
		{
			Name: submitViewResponse, Title: "Submit a response",
			Description: "Submits the answer that a person gave to a request for input, by the token of the link to its page. " +
				"The request keeps its first answer; submitting that one again changes nothing. Submit only what a person " +
				"has answered.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{` +
				`"token":{"type":"string","description":"The link, or the token that it ends with."},` +
				`"response":{"type":"object","description":"The answer, by the keys of the form's fields."}},` +
				`"required":["token","response"],"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"request_id":{"type":"string"},` +
				`"repeated":{"type":"boolean"}},"required":["request_id","repeated"]}`),
			Annotations: &mcp.ToolAnnotations{
				Title: "Submit a response", DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no,
			},
		},
	}
}

// callGated calls a tool behind the gate, for the caller and as its tenant. What refuses it is an answer that a
// model can act on.
func (s *Server) callGated(ctx context.Context, c *Caller, req *mcp.CallToolRequest) (mcp.Result, error) {
	ctx, cancel := c.short(ctx)
	defer cancel()
	run := s.publish
	if req.Params.Name == submitViewResponse {
		run = s.respond
	}
	answer, err := run(ctx, c, req.Params.Arguments)
	if err != nil {
		err = c.refusal(ctx, req.Params.Name, err)
		s.report(ctx, c, methodCallTool, err)
		return refused(err, ""), nil
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("writing an answer: %w", err)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}, StructuredContent: json.RawMessage(raw),
	}, nil
}

// publish publishes a view.
func (s *Server) publish(ctx context.Context, c *Caller, raw json.RawMessage) (any, error) {
	var in struct {
		Kind        view.Kind `json:"kind"`
		RunID       string    `json:"run_id"`
		Tool        string    `json:"tool"`
		Title       string    `json:"title"`
		Description string    `json:"description"`
		Seconds     int64     `json:"expires_in_seconds"`
	}
	if err := strictly(raw, &in); err != nil {
		return nil, err
	}
	if in.Seconds < 0 || in.Seconds > int64(view.MaxKeep/time.Second) {
		in.Seconds = 1 // Out of bounds.
	}
	made, err := s.cfg.Views.Publish(ctx, views.Request{
		Principal: c.Principal, Title: in.Title, Description: in.Description, Kind: in.Kind, RunID: in.RunID,
		Tool: tool.Ref{Slug: in.Tool}, Keep: time.Duration(in.Seconds) * time.Second, Own: true, Sees: offered,
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the client's.
	}
	return struct {
		ViewID    string    `json:"view_id"`
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expires_at"`
	}{made.ID, strings.TrimSuffix(c.Base, "/") + made.Path(), made.ExpiresAt}, nil
}

// respond submits a response.
func (s *Server) respond(ctx context.Context, c *Caller, raw json.RawMessage) (any, error) {
	var in struct {
		Token    string          `json:"token"`
		Response json.RawMessage `json:"response"`
	}
	if err := strictly(raw, &in); err != nil {
		return nil, err
	}
	done, err := s.cfg.Views.Respond(ctx, views.Response{Principal: c.Principal, Token: in.Token, Answer: in.Response})
	if err != nil {
		return nil, err //nolint:wrapcheck // Its words are the client's.
	}
	return struct {
		RequestID string `json:"request_id"`
		Repeated  bool   `json:"repeated"`
	}{done.ID, done.Repeated}, nil
}

// strictly reads the arguments of a tool behind the gate, and refuses members that it does not have.
func strictly(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if _, more := d.Token(); err == nil && errors.Is(more, io.EOF) {
		return nil
	}
	return &tool.Error{
		Kind: tool.Invalid, Op: "mcpserver", Path: "/arguments",
		Msg: "expected the arguments that the tool's input schema describes, and no others",
	}
}
