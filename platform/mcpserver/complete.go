package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// complete is a final result of a revision without sessions, which has to say that it is. The library says so of
// results of handlers of its own alone.
type complete struct{ mcp.Result }

// MarshalJSON implements [json.Marshaler].
func (r complete) MarshalJSON() ([]byte, error) {
	return edited(r.Result, func(members map[string]json.RawMessage) error {
		members["resultType"] = json.RawMessage(`"complete"`)
		return nil
	})
}

// completed marks a result as final where the revision of its request and its type need it.
func completed(result mcp.Result, req mcp.Request) mcp.Result {
	versioned, ok := req.(interface{ ProtocolVersion() string })
	if !ok || versioned.ProtocolVersion() < statelessSince {
		return result
	}
	switch result.(type) {
	case *mcp.CallToolResult, *mcp.GetPromptResult, *mcp.ReadResourceResult:
		return complete{result}
	}
	return result
}
