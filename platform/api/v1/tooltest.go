package v1

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// NewToolTest requests a test of a tool: one call, in debug mode.
type NewToolTest struct {
	Arguments   json.RawMessage `json:"arguments,omitempty" doc:"The arguments, a JSON object" example:"{\"customer\":\"C-17\"}"`
	Version     string          `json:"version,omitempty" maxLength:"100" doc:"Version or constraint, published or not; the current draft when absent" example:"1.2.0"`
	AllowWrites bool            `json:"allow_writes,omitempty" doc:"Allows the test to have effects. Without it, calls that may have effects are refused"`
}

// NewToolTestWait is a [NewToolTest] that waits for the end of the test.
type NewToolTestWait struct {
	NewToolTest
	WaitS *float64 `json:"wait_s,omitempty" minimum:"0" maximum:"60" doc:"How long to wait for the end; 30 when absent"`
}

// ToolTest is the state or the result of a test of a tool. A test that fails is
// not a failed request.
type ToolTest struct {
	RunID      string          `json:"run_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	Tool       string          `json:"tool" example:"searchOrders"`
	Version    string          `json:"version,omitempty" doc:"What was tested; 1.2.0-draft is the draft" example:"1.2.0-draft"`
	Digest     string          `json:"digest,omitempty" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Status     agent.RunStatus `json:"status" enum:"running,completed,failed,cancelled"`
	ErrorKind  tool.Kind       `json:"error_kind,omitempty" doc:"Why there is no answer"`
	Error      string          `json:"error,omitempty"`
	Invocation *Invocation     `json:"invocation,omitempty" doc:"The record of the call: its arguments after coercion, the record of the coercions, and the tool's answer"`
}
