package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/wire"
)

// Registry is where workflows are registered: a worker, a replayer, or a test
// environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// Register registers every workflow under its wire name.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(ToolCall, workflow.RegisterOptions{Name: wire.ToolCallWorkflow})
	r.RegisterWorkflowWithOptions(AgentRun, workflow.RegisterOptions{Name: wire.AgentRunWorkflow})
	r.RegisterWorkflowWithOptions(WaitingCall, workflow.RegisterOptions{Name: wire.WaitingCallWorkflow})
	r.RegisterWorkflowWithOptions(GraphRun, workflow.RegisterOptions{Name: wire.GraphRunWorkflow})
	r.RegisterWorkflowWithOptions(ScheduledRun, workflow.RegisterOptions{Name: wire.ScheduledRunWorkflow})
	r.RegisterWorkflowWithOptions(Ingest, workflow.RegisterOptions{Name: wire.IngestWorkflow})
	r.RegisterWorkflowWithOptions(Reembed, workflow.RegisterOptions{Name: wire.ReembedWorkflow})
}
