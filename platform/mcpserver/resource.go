package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// runPrefix begins the address of the result of a call, as a resource.
const runPrefix = "toolcrib://runs/"

func runURI(runID string) string { return runPrefix + runID }

// runLink links to the result of a call.
func runLink(runID, title string) *mcp.ResourceLink {
	return &mcp.ResourceLink{URI: runURI(runID), Name: "run " + runID, Title: title, MIMEType: "text/plain"}
}

// templates lists the resources that can be read.
func templates() *mcp.ListResourceTemplatesResult {
	return &mcp.ListResourceTemplatesResult{
		ResourceTemplates: []*mcp.ResourceTemplate{{
			URITemplate: runPrefix + "{id}", Name: "run", Title: "Result of a call",
			Description: "The state of a call that this key made and, when it has ended, its whole result.",
		}},
		Cacheable: mcp.Cacheable{CacheScope: "private"},
	}
}

// readResource returns the state of a call that the caller made, and its whole result.
func (s *Server) readResource(ctx context.Context, c *Caller, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	absent := mcp.ResourceNotFoundError(clip(req.Params.URI))
	id, ok := strings.CutPrefix(req.Params.URI, runPrefix)
	if !ok || !tool.ValidID(id) {
		return nil, absent
	}
	run, err := s.cfg.Record.FindRun(ctx, c.Principal.Tenant, id)
	if err != nil && tool.KindOf(err) == tool.NotFound {
		return nil, absent
	}
	if err != nil {
		return nil, fmt.Errorf("finding a run: %w", err)
	}
	if run.Principal.Subject != c.Principal.Subject || run.Kind != agent.RunKindToolCall {
		return nil, absent
	}
	end, err := s.cfg.Record.FindCallEnd(ctx, c.Principal.Tenant, id)
	if err != nil {
		return nil, fmt.Errorf("reading how a run ended: %w", err)
	}
	return &mcp.ReadResourceResult{
		Contents: resourceOf(req.Params.URI, run, &end), Cacheable: mcp.Cacheable{CacheScope: "private"},
	}, nil
}

// resourceOf returns the contents of the resource of a run: its result, or its state where there is none.
func resourceOf(uri string, run agent.Run, end *agent.CallEnd) []*mcp.ResourceContents {
	if end.Result == nil {
		text := fmt.Sprintf("The call is %s.", run.Status)
		if run.Status.Final() {
			text += " " + words(&tool.Error{Kind: end.Kind, Msg: end.Msg, Acted: end.Acted})
		}
		return []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}
	}
	out := []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: tool.ReadableText(end.Result.Content)}}
	for _, c := range end.Result.Content {
		if len(c.Data) > 0 {
			out = append(out, &mcp.ResourceContents{URI: uri, MIMEType: c.MIMEType, Blob: c.Data})
		}
	}
	return out
}
