package activities

import (
	"context"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// tellOmitted records an event tool.warning, once in a run, for each tool that a model was not
// offered because of its input schema. The turn does not depend on it: what cannot be recorded is
// logged.
func (a *Activities) tellOmitted(ctx context.Context, attempt *modelTurn, k *kit, omitted []agent.OmittedTool) {
	omitted = slices.Clip(omitted)
	for _, t := range k.tools {
		if t.unusable != "" {
			omitted = append(omitted, agent.OmittedTool{Name: t.pin.Slug, Reason: t.unusable})
		}
	}
	for _, o := range omitted {
		t := k.find(o.Name)
		if t == nil {
			continue
		}
		cause := "schema " + attempt.runID + " " + o.Name
		if _, ok := a.warnings.pass(cause, time.Now()); !ok {
			continue // It is the same at every turn.
		}
		err := a.Runs.RecordWarning(ctx, k.principal.Tenant, attempt.runID, agent.Warning{
			Tool: t.pin.Slug, Version: t.pin.Version, Reason: agent.WarningUnusableSchema, Kind: tool.Invalid,
			Message: "the model is not offered the tool: " + tool.Clip(o.Reason, maxCauseBytes),
		})
		if err != nil {
			activity.GetLogger(ctx).Warn("a tool was not offered to the model, and the event was not recorded",
				"run_id", attempt.runID, "tool", t.pin.Slug, "version", t.pin.Version, "reason", o.Reason, "error", err)
		}
	}
}
