// Package wire defines what is passed through Temporal: the names of workflows,
// activities, queries and updates, and the payloads of the calls between
// workflows and activities.
//
// Names are stored in histories and never renamed. Payloads only grow: a field
// is never renamed, retyped or reused, so that recorded histories replay.
package wire

import (
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Workflow types.
const (
	ToolCallWorkflow = "toolcrib.ToolCall" // One tool call as a workflow of its own.
	AgentRunWorkflow = "toolcrib.AgentRun" // An agent loop.
	// WaitingCallWorkflow is a call of a host's workflow that waits for a person.
	WaitingCallWorkflow = "toolcrib.WaitingCall"
	GraphRunWorkflow    = "toolcrib.GraphRun" // A run of a graph: the nodes of one call.
)

// Activity types. There is one Invoke type per implementation type, so that
// metrics and retries can be filtered by type; the tool's name is in the
// Summary.
const (
	LoadPlanActivity  = "toolcrib.LoadPlan"  // Pins the tools of a single call, or of a host's workflow.
	AdvanceActivity   = "toolcrib.Advance"   // Takes an agent run as far as one process can.
	NodesActivity     = "toolcrib.Nodes"     // Makes several calls of a host's workflow.
	ModelTurnActivity = "toolcrib.ModelTurn" // The same, from a question that the model failed to answer before.
	AdmitActivity     = "toolcrib.Admit"     // Opens the effect of a call that must not be repeated.
	AskActivity       = "toolcrib.Ask"       // Asks for the approval of a call.
	SettleActivity    = "toolcrib.Settle"    // Closes a call that ended outside its Invoke.
	// CancelInlineActivity is a local activity: it cancels an Advance in the workflow's own task.
	CancelInlineActivity = "toolcrib.CancelInline"
	FinishRunActivity    = "toolcrib.FinishRun" // Records how a run ended.

	AdvanceGraphActivity  = "toolcrib.AdvanceGraph"  // Takes the run of a graph as far as one process can.
	EvaluateGraphActivity = "toolcrib.EvaluateGraph" // Evaluates conditions and records nodes of a graph.
	OpenNodeActivity      = "toolcrib.OpenNode"      // Records the run of an agent that a node of a graph runs.
)

// InvokeActivity returns the activity type that runs calls of the given
// implementation type: toolcrib.InvokeAgentCall for agent_call, toolcrib.InvokeHTTP
// for http.
func InvokeActivity(i tool.Implementation) string {
	var name strings.Builder
	name.WriteString("toolcrib.Invoke")
	for word := range strings.SplitSeq(string(i), "_") {
		switch word {
		case "":
		case "http", "mcp", "rag":
			name.WriteString(strings.ToUpper(word))
		default:
			name.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return name.String()
}

// Search attributes of Toolcrib's workflows, where the namespace has them. All are keywords. The tenant and
// agent are set by the start. The others are changed while a workflow runs, and an execution
// that began without [PhaseAttribute] never sets them.
const (
	TenantAttribute  = "ToolcribTenant" // Its id.
	AgentAttribute   = "ToolcribAgent"  // Slug.
	GraphAttribute   = "ToolcribGraph"  // Slug, of the run of a graph.
	PhaseAttribute   = "ToolcribPhase"  // One of [PhaseRunning] and the like; of a workflow that ended it means nothing.
	WaitingAttribute = "ToolcribWaitingFor"
)

// SearchAttributes are the names of all of them.
func SearchAttributes() []string {
	return []string{TenantAttribute, AgentAttribute, GraphAttribute, PhaseAttribute, WaitingAttribute}
}

// Attributes says which search attributes a namespace has.
type Attributes struct {
	Owner bool // The tenant and the agent.
	Phase bool // The graph, the phase, and what is waited for.
}

// Values of [PhaseAttribute].
const (
	PhaseRunning = "running"
	PhaseWaiting = "waiting"
	PhasePaused  = "paused"
)

// Values of [WaitingAttribute]: what a workflow began to wait for first.
const (
	WaitsForApproval = "approval"
	WaitsForResult   = "result" // Of a call that is answered from outside.
	WaitsForRun      = "run"    // Below it, which waits itself.
)
