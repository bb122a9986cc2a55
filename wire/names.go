// Package wire defines what is passed through Temporal: the names of workflows,
// activities, queries and updates, and the payloads of the calls between
// workflows and activities.
//
// Names are stored in histories and never renamed. Payloads only grow: a field
// is never renamed, retyped or reused, so that recorded histories replay.
package wire

import "github.com/toolcrib/toolcrib/tool"

// Workflow types.
const (
	ToolCallWorkflow = "toolcrib.ToolCall" // One tool call as a workflow of its own.
	AgentRunWorkflow = "toolcrib.AgentRun" // An agent loop.
)

// Activity types. There is one Invoke type per implementation type, so that
// metrics and retries can be filtered by type; the tool's name is in the
// Summary.
const (
	LoadPlanActivity  = "toolcrib.LoadPlan"  // Pins the tools and the agent version that a run uses.
	ModelTurnActivity = "toolcrib.ModelTurn" // Asks the model, prepares the calls it made.
	AdmitActivity     = "toolcrib.Admit"     // Opens the effect of a call that must not be repeated.
	SettleActivity    = "toolcrib.Settle"    // Closes a call that ended outside its Invoke.
	FinishRunActivity = "toolcrib.FinishRun" // Records how a run ended.

	InvokeInternalActivity    = "toolcrib.InvokeBuiltin"
	InvokeHTTPActivity        = "toolcrib.InvokeHTTP"
	InvokeFunctionActivity    = "toolcrib.InvokeFunction"
	InvokeRAGActivity         = "toolcrib.InvokeRAG"
	InvokeAgentCallActivity   = "toolcrib.InvokeAgentCall"
	InvokeArtifactActivity    = "toolcrib.InvokeArtifact"
	InvokeMCPActivity         = "toolcrib.InvokeMCP"
	InvokeCustomActivity      = "toolcrib.InvokeCustom"
	InvokePromptActivity      = "toolcrib.InvokePrompt"
	InvokeTaskActivity        = "toolcrib.InvokeTask"
	InvokeCompositionActivity = "toolcrib.InvokeComposition"
	InvokeClientActivity      = "toolcrib.InvokeClient"
	InvokeProviderActivity    = "toolcrib.InvokeProvider"
)

// InvokeActivity returns the activity type that runs calls of the given
// implementation type. Unknown types map to [InvokeCustomActivity], whose
// executor refuses what it does not know either.
func InvokeActivity(i tool.Implementation) string {
	switch i {
	case tool.Internal:
		return InvokeInternalActivity
	case tool.HTTP:
		return InvokeHTTPActivity
	case tool.Function:
		return InvokeFunctionActivity
	case tool.RAGRetrieval:
		return InvokeRAGActivity
	case tool.AgentCall:
		return InvokeAgentCallActivity
	case tool.Artifact:
		return InvokeArtifactActivity
	case tool.MCP:
		return InvokeMCPActivity
	case tool.Prompt:
		return InvokePromptActivity
	case tool.Task:
		return InvokeTaskActivity
	case tool.Composition:
		return InvokeCompositionActivity
	case tool.Client:
		return InvokeClientActivity
	case tool.Provider:
		return InvokeProviderActivity
	case tool.Custom:
		return InvokeCustomActivity
	default:
		return InvokeCustomActivity
	}
}

// Search attributes that Toolcrib's workflows are started with, where the
// namespace has them.
const (
	TenantAttribute = "ToolcribTenant" // Keyword.
	AgentAttribute  = "ToolcribAgent"  // Keyword.
)

// RunWorkflowID returns the workflow id of a run that Toolcrib starts.
func RunWorkflowID(tenant tool.TenantID, runID string) string {
	return "t/" + string(tenant) + "/run/" + runID
}
