package e2e_test

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// A run, an invocation and an effect as they stand in the database.
type (
	runRow struct {
		ID, WorkflowID string
		Kind           agent.RunKind
		Status         agent.RunStatus
		LastSeq        int64
		Plan           *agent.Plan
	}
	invocationRow struct {
		ID, RunID, EffectID, Tool, Version string
		Status                             tool.InvocationStatus
	}
	effectRow struct {
		Phase, InvocationID, Status string
	}
)

// check holds the records to one another.
func (p *plant) check() {
	p.t.Helper()
	runs := p.ended()
	for _, id := range p.promised() {
		require.Contains(p.t, runs, id, "a promised run is lost")
		require.True(p.t, runs[id].Status.Final(), "a promised run is %s", runs[id].Status)
	}
	invocations, effects := p.invocations(), p.effects()
	counts := map[any]int{}
	for _, run := range runs {
		counts[run.Status]++
		p.checkEvents(run, invocations[run.ID])
		p.checkPins(run, invocations[run.ID])
		p.checkHistory(run, invocations[run.ID])
	}
	byEffect := map[string]invocationRow{}
	for _, of := range invocations {
		for _, i := range of {
			counts[i.Status]++
			require.True(p.t, i.Status.Final(), "invocation %s is %s", i.ID, i.Status)
			if i.EffectID == "" {
				continue // Refused before there was anything to do.
			}
			e, ok := effects[i.EffectID]
			require.True(p.t, ok, "invocation %s has no effect", i.ID)
			require.Equal(p.t, effectRow{"done", i.ID, string(i.Status)}, e)
			byEffect[i.EffectID] = i
		}
	}
	require.Len(p.t, byEffect, len(effects), "effects without an invocation")
	p.checkUpstream(byEffect)
	p.t.Logf("%d runs, %d of them promised; %d effects; %d requests upstream; %d versions; %v",
		len(runs), len(p.promised()), len(effects), p.upstream.total, p.version, counts)
	require.NotEmpty(p.t, byEffect)
}

// ended waits until every run has ended and returns them. A run that nobody
// was promised may have been recorded by a server that was killed before it
// started the workflow: it is pending, and there is no such workflow.
func (p *plant) ended() map[string]runRow {
	p.t.Helper()
	var open []string
	runs := map[string]runRow{}
	require.Eventually(p.t, func() bool {
		rows, err := p.conn.Query(p.t.Context(), `select id::text, workflow_id, kind, status, last_seq, plan from runs where tenant_id = $1`, p.tenant)
		require.NoError(p.t, err)
		all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[runRow])
		require.NoError(p.t, err)
		open = nil
		for _, run := range all {
			if runs[run.ID] = run; !run.Status.Final() && !p.orphaned(run) {
				open = append(open, run.ID+" "+string(run.Status))
			}
		}
		return len(open) == 0
	}, patience, 200*time.Millisecond, "runs do not end: %v", &open)
	return runs
}

func (p *plant) orphaned(run runRow) bool {
	if run.Status != agent.RunPending || slices.Contains(p.promised(), run.ID) {
		return false
	}
	_, err := p.temporal.DescribeWorkflowExecution(p.t.Context(), run.WorkflowID, "")
	return isNotFound(err)
}

// invocations returns all invocations, by run.
func (p *plant) invocations() map[string][]invocationRow {
	p.t.Helper()
	rows, err := p.conn.Query(p.t.Context(), `select id::text, run_id::text, coalesce(effect_id, ''), tool, version, status
		from tool_invocations where tenant_id = $1`, p.tenant)
	require.NoError(p.t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[invocationRow])
	require.NoError(p.t, err)
	out := map[string][]invocationRow{}
	for _, i := range all {
		out[i.RunID] = append(out[i.RunID], i)
	}
	return out
}

func (p *plant) effects() map[string]effectRow {
	p.t.Helper()
	rows, err := p.conn.Query(p.t.Context(), `select effect_id, phase, invocation_id::text, coalesce(status, '') from effects where tenant_id = $1`, p.tenant)
	require.NoError(p.t, err)
	out := map[string]effectRow{}
	var id string
	var e effectRow
	_, err = pgx.ForEachRow(rows, []any{&id, &e.Phase, &e.InvocationID, &e.Status}, func() error {
		out[id] = e
		return nil
	})
	require.NoError(p.t, err)
	return out
}

// checkEvents: the events of a run, and the output between them, are numbered
// without gaps; one of them ends the run, and one each invocation.
func (p *plant) checkEvents(run runRow, invocations []invocationRow) {
	p.t.Helper()
	rows, err := p.conn.Query(p.t.Context(), `
		select seq, type, coalesce(invocation_id::text, '') from run_events where tenant_id = $1 and run_id = $2
		union all select seq, 'output', '' from run_output where tenant_id = $1 and run_id = $2 order by 1`, p.tenant, run.ID)
	require.NoError(p.t, err)
	ends := map[string]tool.EventType{}
	var seq, last int64
	var kind tool.EventType
	var id string
	_, err = pgx.ForEachRow(rows, []any{&seq, &kind, &id}, func() error {
		last++
		require.Equal(p.t, last, seq, "the events of run %s have a gap", run.ID)
		switch kind {
		case agent.EventRunCompleted, agent.EventRunFailed, agent.EventRunCancelled:
			require.NotContains(p.t, ends, "", "run %s ends twice", run.ID)
			ends[""] = kind
		case tool.EventCompleted, tool.EventFailed, tool.EventCancelled, tool.EventRejected, tool.EventExpired:
			require.NotContains(p.t, ends, id, "invocation %s ends twice", id)
			ends[id] = kind
		case tool.EventStarted, tool.EventOutputAppended, tool.EventNeedsApproval, tool.EventApproved, tool.EventPending,
			tool.EventResultReceived, tool.EventWarning: // On the way to an end.
		}
		return nil
	})
	require.NoError(p.t, err)
	require.Equal(p.t, run.LastSeq, last, "run %s", run.ID)
	want := map[string]tool.EventType{}
	for _, i := range invocations {
		want[i.ID] = tool.EndEvent(i.Status)
	}
	if run.Status.Final() {
		want[""] = map[agent.RunStatus]tool.EventType{
			agent.RunCompleted: agent.EventRunCompleted, agent.RunFailed: agent.EventRunFailed, agent.RunCancelled: agent.EventRunCancelled,
		}[run.Status]
	}
	require.Equal(p.t, want, ends, "the ends of run %s", run.ID)
}

// checkPins: a run uses one version of each tool, that of its plan.
func (p *plant) checkPins(run runRow, invocations []invocationRow) {
	p.t.Helper()
	pinned := map[string]string{}
	if run.Plan != nil {
		for _, pin := range run.Plan.Tools {
			pinned[pin.Slug] = pin.Version
		}
	}
	for _, i := range invocations {
		if i.Version != "" { // Refused otherwise, before it had one.
			require.Equal(p.t, pinned[i.Tool], i.Version, "invocation %s of run %s", i.ID, run.ID)
		}
	}
}

var invocationPattern = regexp.MustCompile(`invocation_id[\\":]+([0-9a-f-]{36})`)

// checkHistory: what the run's history tells of invocations is what the
// database has of them, both ways. A single call that is refused before it has
// a plan is on record only.
func (p *plant) checkHistory(run runRow, invocations []invocationRow) {
	p.t.Helper()
	told, kept := map[string]bool{}, map[string]bool{}
	if run.Status.Final() && !p.neverStarted(run) {
		for _, e := range historyOf(p.t.Context(), p.t, p.temporal, run.WorkflowID, "").GetEvents() {
			for _, m := range invocationPattern.FindAllStringSubmatch(e.String(), -1) {
				told[m[1]] = true
			}
		}
	}
	for _, i := range invocations {
		if refused := run.Kind == agent.ToolCallRun && i.EffectID == "" && i.Status == tool.StatusFailed; !refused || told[i.ID] {
			kept[i.ID] = true
		}
	}
	require.Equal(p.t, slices.Sorted(maps.Keys(kept)), slices.Sorted(maps.Keys(told)), "the history of run %s", run.ID)
}

// neverStarted tells of a run whose server could not start it, and said so.
func (p *plant) neverStarted(run runRow) bool {
	_, err := p.temporal.DescribeWorkflowExecution(p.t.Context(), run.WorkflowID, "")
	return isNotFound(err) && !slices.Contains(p.promised(), run.ID)
}

// checkUpstream: every request belongs to an effect, was made by its version,
// and a call that must not be repeated was sent once.
func (p *plant) checkUpstream(byEffect map[string]invocationRow) {
	p.t.Helper()
	seen := map[string]map[string]string{} // Version of the platform by tool, then by ours.
	for key, requests := range p.upstream.requests {
		i, ok := byEffect[key]
		require.True(p.t, ok, "a request has no effect: %v", requests)
		for _, r := range requests {
			require.Equal(p.t, i.Tool, r.slug)
			if seen[r.slug] == nil {
				seen[r.slug] = map[string]string{}
			}
			if before, ok := seen[r.slug][i.Version]; ok {
				require.Equal(p.t, before, r.version, "%s@%s is two", i.Tool, i.Version)
			}
			seen[r.slug][i.Version] = r.version
		}
		if i.Tool == "sendIt" {
			require.Len(p.t, requests, 1, "invocation %s, which must not be repeated, was sent again", i.ID)
		}
	}
	for effect, i := range byEffect {
		if i.Status == tool.StatusCompleted {
			require.NotEmpty(p.t, p.upstream.requests[effect], "invocation %s was answered by nobody", i.ID)
		}
	}
}

func isNotFound(err error) bool {
	_, ok := errors.AsType[*serviceerror.NotFound](err)
	return ok
}
