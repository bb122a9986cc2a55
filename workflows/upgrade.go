package workflows

import "go.temporal.io/sdk/workflow"

// continueAsNew continues a workflow as new, on the worker version that is current
// then.
func continueAsNew(ctx workflow.Context, name string, in any) error {
	return workflow.NewContinueAsNewErrorWithOptions(ctx, workflow.ContinueAsNewErrorOptions{
		InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
	}, name, in)
}

// renewable reports whether a workflow should continue as new where it can: its history
// is long, or another worker version is current than the one it is pinned to.
func renewable(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetTargetWorkerDeploymentVersionChanged()
}
