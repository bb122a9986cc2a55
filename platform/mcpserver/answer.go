package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/tool"
)

// answered returns the answer of a tool as a client gets it. Of text that is too large for a model, it has
// the beginning and the end, and a link to all of it. The structured value of a tool with an output schema is
// always whole, since clients check it.
func answered(r *tool.Result, w waiting) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.IsError, Meta: mcp.Meta{metaRunID: w.call.RunID}}
	for _, c := range shown(r.Content, w.call.RunID, w.inline) {
		if strings.HasPrefix(c.URI, runPrefix) && c.URI != runURI(w.call.RunID) {
			continue // A tool does not speak for the platform: addresses of runs are not its to give.
		}
		if block := content(c); block != nil {
			out.Content = append(out.Content, block)
		}
	}
	if out.Content == nil {
		out.Content = []mcp.Content{}
	}
	if bytes.HasPrefix(bytes.TrimSpace(r.Structured), []byte("{")) &&
		(w.typed || len(r.Structured) <= w.inline) {
		out.StructuredContent = r.Structured
	}
	return out
}

// shown returns what a client is shown of content: all of it up to a limit in bytes.
func shown(blocks []tool.Content, runID string, limit int) []tool.Content {
	if !tool.Exceeds(blocks, limit) {
		return blocks
	}
	text := tool.ReadableText(blocks)
	from, to := tool.Ends(text, limit)
	cut := []tool.Content{
		tool.Text(fmt.Sprintf("The result has %d bytes in %d lines, too many to be shown. Its beginning and end follow. "+
			"Read the resource %s for all of it, or ask for less.", len(text), tool.Lines(text), runURI(runID))),
		tool.Text(text[:from]), tool.Text(fmt.Sprintf("[… %d bytes are left out …]", to-from)), tool.Text(text[to:]),
		{Type: tool.ContentResource, URI: runURI(runID), Name: "The whole result", MIMEType: "text/plain"},
	}
	for _, c := range blocks {
		if len(c.Data) > 0 && c.Text == "" {
			cut = append(cut, c)
		}
	}
	return cut
}

// content returns a block as the protocol has it; nil for one that it does not have.
func content(c tool.Content) mcp.Content {
	switch c.Type {
	case tool.ContentText:
		return &mcp.TextContent{Text: c.Text}
	case tool.ContentJSON:
		var b bytes.Buffer
		if json.Compact(&b, c.JSON) != nil {
			return nil
		}
		return &mcp.TextContent{Text: b.String()}
	case tool.ContentImage:
		return &mcp.ImageContent{Data: c.Data, MIMEType: c.MIMEType}
	case tool.ContentAudio:
		return &mcp.AudioContent{Data: c.Data, MIMEType: c.MIMEType}
	case tool.ContentResource:
		if c.Text == "" && len(c.Data) == 0 {
			return &mcp.ResourceLink{URI: c.URI, Name: nameOf(c), MIMEType: c.MIMEType}
		}
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
			URI: c.URI, MIMEType: c.MIMEType, Text: c.Text, Blob: c.Data,
		}}
	default:
		return nil
	}
}

// nameOf returns the name of a linked resource, which the protocol requires.
func nameOf(c tool.Content) string {
	if c.Name != "" {
		return c.Name
	}
	return c.URI
}
