package mcpcall

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
)

// Type describes mcp tools. The client is nil in a process that only validates
// definitions.
func Type(client *Client) executors.Type {
	return executors.Type{
		Traits:      tool.Traits{Implementation: tool.MCP, Quick: true},
		Executor:    New(client),
		CheckConfig: func(config, _ json.RawMessage) error { return CheckConfig(config) },
	}
}
