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
	Resume    *Resume         `json:"resume,omitempty" doc:"Continues a graph from a node, with what another call of it did before"`
	WaitS     *float64        `json:"wait_s,omitempty" minimum:"0" maximum:"60" doc:"How long to wait for the answer; 30 when absent"`
}

// Resume continues a graph from a node that another call of it came to. What was before that node is not done
// again. Arguments that are absent are those of the other call, and so is the version.
type Resume struct {
	Invocation string `json:"invocation" maxLength:"64" doc:"The id of the other call, which has ended" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	Node       string `json:"node,omitempty" maxLength:"64" doc:"The node to begin with, outside of bodies; the last one that failed when absent" example:"charge"`
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
