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

// Search attributes that Toolcrib's workflows are started with, where the
// namespace has them.
const (
	TenantAttribute = "ToolcribTenant" // Keyword.
	AgentAttribute  = "ToolcribAgent"  // Keyword.
)

// WorkflowPrefix is what the ids of Toolcrib's own workflows begin with.
const WorkflowPrefix = "t/"

// RunWorkflowID returns the workflow id of a run that Toolcrib starts.
func RunWorkflowID(tenant tool.TenantID, runID string) string {
	return "t/" + string(tenant) + "/run/" + runID
}

// WaitWorkflowID returns the workflow id of a call of a host's workflow that waits.
func WaitWorkflowID(tenant tool.TenantID, effectID string) string {
	return "t/" + string(tenant) + "/wait/" + effectID
}

// GraphWorkflowID returns the workflow id of the run of a graph.
func GraphWorkflowID(tenant tool.TenantID, invocationID string) string {
	return "t/" + string(tenant) + "/graph/" + invocationID
}

// CallWorkflowID returns the workflow id of a single call whose id the caller
// chose.
func CallWorkflowID(tenant tool.TenantID, callID string) string {
	return "t/" + string(tenant) + "/call/" + callID
}
