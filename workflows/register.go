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

// behaviours say on which worker build a workflow goes on, where builds are Worker
// Deployment Versions; elsewhere they mean nothing. Pinned ones end on the build that
// they began on, so that their code may change freely: those that are short, and those
// that continue as new, which takes them to the current build. The others may wait for
// days without a step to continue as new at: they move to the current build, whose code
// has to replay their histories.
var behaviours = map[string]workflow.VersioningBehavior{
	wire.ToolCallWorkflow:     workflow.VersioningBehaviorPinned,
	wire.AgentRunWorkflow:     workflow.VersioningBehaviorPinned,
	wire.GraphRunWorkflow:     workflow.VersioningBehaviorPinned,
	wire.WaitingCallWorkflow:  workflow.VersioningBehaviorAutoUpgrade,
	wire.ScheduledRunWorkflow: workflow.VersioningBehaviorAutoUpgrade,
	wire.IngestWorkflow:       workflow.VersioningBehaviorPinned,
	wire.ReembedWorkflow:      workflow.VersioningBehaviorPinned,
}

// Behaviour returns the versioning behaviour of a workflow by its wire name.
func Behaviour(name string) workflow.VersioningBehavior { return behaviours[name] }

// Register registers every workflow under its wire name.
func Register(r Registry) {
	for name, w := range map[string]any{
		wire.ToolCallWorkflow: ToolCall, wire.AgentRunWorkflow: AgentRun, wire.WaitingCallWorkflow: WaitingCall,
		wire.GraphRunWorkflow: GraphRun, wire.ScheduledRunWorkflow: ScheduledRun, wire.IngestWorkflow: Ingest,
		wire.ReembedWorkflow: Reembed,
	} {
		r.RegisterWorkflowWithOptions(w, workflow.RegisterOptions{Name: name, VersioningBehavior: behaviours[name]})
	}
}
