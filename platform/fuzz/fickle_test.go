package fuzz_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

// fickle stands for all MCP servers there are, none of which is on this
// machine. What they may be asked for is checked as always.
type fickle struct {
	mcpserver.Discoverer
	asked atomic.Int64
}

// Discover implements [mcpserver.Discoverer]. A server is like others for some
// time, and then it gives another definition of a tool, or drops one.
func (f *fickle) Discover(context.Context, tool.TenantID, definition.Connection) (*mcpserver.Discovery, error) {
	n := f.asked.Add(1) / 4
	offers := []string{"read", "list", fmt.Sprint("tool", n%3)}
	found := &mcpserver.Discovery{Protocol: "2025-11-25", Name: "files", Version: strconv.FormatInt(n, 10)}
	for _, name := range offers {
		d := remote.Tool{Name: name, Description: "Does it.", InputSchema: json.RawMessage(`{"type":"object"}`)}
		if name == "read" && n%2 == 1 {
			d.Description, d.InputSchema = "Does it otherwise.", json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
		}
		raw, err := json.Marshal(map[string]any{"name": d.Name, "description": d.Description, "inputSchema": d.InputSchema})
		if err != nil {
			return nil, fmt.Errorf("writing a definition: %w", err)
		}
		if d.Digest, err = remote.Digest(raw); err != nil {
			return nil, fmt.Errorf("digesting a definition: %w", err)
		}
		found.Tools = append(found.Tools, d)
	}
	return found, nil
}
