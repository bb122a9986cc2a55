package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/wire"
)

var (
	tenantAttribute  = temporal.NewSearchAttributeKeyKeyword(wire.TenantAttribute)
	agentAttribute   = temporal.NewSearchAttributeKeyKeyword(wire.AgentAttribute)
	graphAttribute   = temporal.NewSearchAttributeKeyKeyword(wire.GraphAttribute)
	phaseAttribute   = temporal.NewSearchAttributeKeyKeyword(wire.PhaseAttribute)
	waitingAttribute = temporal.NewSearchAttributeKeyKeyword(wire.WaitingAttribute)
)

// maxPhases bounds how many waits of an execution change its search attributes: each is two events.
// Later ones are found by the record only.
const maxPhases = 100

// below returns the search attributes of a workflow below this one, which runs an agent or a graph. It
// has those that this one has: the namespace may lack any of them.
func below(ctx workflow.Context, agent, graph string) temporal.SearchAttributes {
	var own []temporal.SearchAttributeUpdate
	above := workflow.GetTypedSearchAttributes(ctx)
	if tenant, ok := above.GetKeyword(tenantAttribute); ok {
		own = append(own, tenantAttribute.ValueSet(tenant))
		if agent == "" {
			agent, _ = above.GetKeyword(agentAttribute)
		}
		if agent != "" {
			own = append(own, agentAttribute.ValueSet(agent))
		}
	}
	if _, ok := above.GetKeyword(phaseAttribute); ok {
		own = append(own, phaseAttribute.ValueSet(wire.PhaseRunning))
		if graph != "" {
			own = append(own, graphAttribute.ValueSet(graph))
		}
	}
	return temporal.NewSearchAttributes(own...)
}

// show says in Temporal what the workflow waits for, or that it runs again, where waitsFor is empty. Runs of
// graphs have details of their own.
func (w *waits) show(ctx workflow.Context, waitsFor string) {
	if w.waitsFor = waitsFor; w.round.Paused() {
		return // Which is shown.
	}
	if !w.graph {
		workflow.SetCurrentDetails(ctx, w.details(waitsFor))
	}
	switch {
	case waitsFor != "" && w.phases < maxPhases:
		w.phases++
		w.shown = true
		w.upsert(ctx, phaseAttribute.ValueSet(wire.PhaseWaiting), waitingAttribute.ValueSet(waitsFor))
	case waitsFor == "" && w.shown:
		w.shown = false
		w.upsert(ctx, phaseAttribute.ValueSet(wire.PhaseRunning), waitingAttribute.ValueUnset())
	}
}

// upsert sets search attributes, where the namespace has them.
func (*waits) upsert(ctx workflow.Context, updates ...temporal.SearchAttributeUpdate) {
	if _, known := workflow.GetTypedSearchAttributes(ctx).GetKeyword(phaseAttribute); !known {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
		workflow.GetLogger(ctx).Warn("the search attributes of a workflow could not be set", "error", err)
	}
}

// details describes the waits of the workflow, for people who look at it in Temporal.
func (w *waits) details(waitsFor string) string {
	if waitsFor == "" {
		return "runs"
	}
	lines := []string{"waits for: " + waitsFor}
	for _, p := range w.list() {
		if len(lines) > maxDetails {
			break
		}
		lines = append(lines, fmt.Sprintf("- `%s`, call `%s`", p.Tool, p.CallID))
	}
	return strings.Join(lines, "\n")
}
