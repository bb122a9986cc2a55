package v1

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// NewCall requests one call of a tool.
type NewCall struct {
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"The arguments, a JSON object" example:"{\"customer\":\"C-17\"}"`
	Version   string          `json:"version,omitempty" maxLength:"100" doc:"Version or constraint, such as ^1.2" example:"^1.2"`
	Mode      tool.Mode       `json:"mode,omitempty" enum:"production,debug" default:"production"`
	ID        string          `json:"id,omitempty" maxLength:"128" pattern:"^[A-Za-z0-9._:-]*$" doc:"Makes the call idempotent: sent again with the same id, it is not made again" example:"order-4711"`
	WaitS     *float64        `json:"wait_s,omitempty" minimum:"0" maximum:"60" doc:"How long to wait for the answer; 30 when absent"`
}

// Call is the state of a call: with the tool's answer, or still running.
type Call struct {
	RunID  string          `json:"run_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	Tool   string          `json:"tool" example:"searchOrders"`
	Status agent.RunStatus `json:"status" enum:"running,completed"`
	Result *tool.Result    `json:"result,omitempty" doc:"The tool's answer; is_error marks an answer that reports a failure"`
	// Warnings are of the call, where Result has the tool's own.
	Warnings []string `json:"warnings,omitempty" doc:"What to change before it becomes an error, such as a former name of the tool" example:"[\"tool \\\"findOrders\\\" is called \\\"searchOrders\\\" now: the old name works until 2027-06-30\"]"`
}
