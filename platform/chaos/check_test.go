package chaos_test

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
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
		ID, Phase, InvocationID, Status string
	}
)

// check holds the records against each other.
func (s *site) check() {
	s.t.Helper()
	healed := time.Now()
	runs := s.awaitEnd(healed)
	for _, id := range s.accepted() {
		require.Contains(s.t, runs, id, "an accepted run is lost")
	}
	invocations := map[string][]invocationRow{}
	for _, i := range query[invocationRow](s.t.Context(), s,
		`select id::text, run_id::text, coalesce(effect_id, ''), tool, version, status
		from tool_invocations where tenant_id = $1`, s.tenant) {
		invocations[i.RunID] = append(invocations[i.RunID], i)
	}
	effects := map[string]effectRow{}
	for _, e := range query[effectRow](s.t.Context(), s,
		`select effect_id, phase, invocation_id::text, coalesce(status, '') from effects where tenant_id = $1`, s.tenant) {
		effects[e.ID] = e
	}
	counts := map[any]int{}
	byEffect := map[string]invocationRow{}
	for _, run := range runs {
		counts[run.Status]++
		s.checkEvents(run, invocations[run.ID])
		s.checkPins(run, invocations[run.ID])
		s.checkExecution(run)
		s.checkTranscript(run)
		for _, i := range invocations[run.ID] {
			counts[i.Status]++
			if i.EffectID == "" {
				continue // Refused before there was anything to do.
			}
			require.Equal(s.t, effectRow{i.EffectID, "done", i.ID, string(i.Status)}, effects[i.EffectID],
				"the effect of invocation %s", i.ID)
			byEffect[i.EffectID] = i
		}
	}
	require.Len(s.t, byEffect, len(effects), "effects without an invocation")
	requests := s.checkUpstream(byEffect)
	starts := 0
	for _, p := range slices.Concat(s.servers, s.workers) {
		starts += p.starts
	}
	s.t.Logf("%d runs, %d of them accepted; %d effects; %d requests upstream; %d versions; %d process starts; %v",
		len(runs), len(s.accepted()), len(effects), requests, s.version, starts, counts)
	require.NotEmpty(s.t, byEffect)
}

// awaitEnd waits until every run and every invocation has ended, and no workflow
// is open, and returns the runs.
func (s *site) awaitEnd(healed time.Time) map[string]runRow {
	s.t.Helper()
	limit := patience
	if *timeFlag > 0 {
		limit = quietTime
	}
	var runs map[string]runRow
	var open []string
	for {
		runs, open = make(map[string]runRow), nil
		for _, run := range query[runRow](s.t.Context(), s,
			`select id::text, workflow_id, kind, status, last_seq, plan from runs where tenant_id = $1`, s.tenant) {
			if runs[run.ID] = run; !run.Status.Final() {
				open = append(open, "run "+run.ID+" "+string(run.Status)+" "+s.executionStatus(run.WorkflowID).String())
			}
		}
		for _, i := range query[invocationRow](s.t.Context(), s,
			`select id::text, run_id::text, coalesce(effect_id, ''), tool, version, status
			from tool_invocations where tenant_id = $1`, s.tenant) {
			if !i.Status.Final() {
				open = append(open, "invocation "+i.ID+" of "+i.Tool+" "+string(i.Status)+" in run "+i.RunID)
			}
		}
		listed, err := s.temporal.ListWorkflow(s.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: embedded.DefaultNamespace, Query: "ExecutionStatus = 'Running'",
		})
		require.NoError(s.t, err)
		for _, e := range listed.GetExecutions() {
			open = append(open, "workflow "+e.GetExecution().GetWorkflowId())
		}
		if len(open) == 0 {
			s.t.Logf("everything has ended %s after the last fault", time.Since(healed).Round(100*time.Millisecond))
			return runs
		}
		if time.Since(healed) > limit {
			require.Fail(s.t, "orphans", "%d are open %s after the last fault: %v", len(open), limit, open)
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// executionStatus returns the status of a workflow's latest execution;
// unspecified where there is none.
func (s *site) executionStatus(workflowID string) enumspb.WorkflowExecutionStatus {
	s.t.Helper()
	described, err := s.temporal.DescribeWorkflowExecution(s.t.Context(), workflowID, "")
	if _, ok := errors.AsType[*serviceerror.NotFound](err); ok {
		return enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED
	}
	require.NoError(s.t, err)
	return described.GetWorkflowExecutionInfo().GetStatus()
}

// checkExecution: the record of a run says what its workflow ended with.
func (s *site) checkExecution(run runRow) {
	s.t.Helper()
	status := s.executionStatus(run.WorkflowID)
	want := []agent.RunStatus{agent.RunFailed, agent.RunCancelled}
	switch status {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		want = []agent.RunStatus{agent.RunCompleted}
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		want = []agent.RunStatus{agent.RunCancelled}
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		// It may have recorded its end before it could say so to Temporal.
		want = append(want, agent.RunCompleted)
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT,
		enumspb.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
		enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW, enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED:
	}
	require.Contains(s.t, want, run.Status, "run %s, whose workflow is %s", run.ID, status)
}

// checkPins: a run uses one version of each tool, that of its plan.
func (s *site) checkPins(run runRow, invocations []invocationRow) {
	s.t.Helper()
	if run.Plan == nil {
		return
	}
	pinned := map[string]string{}
	for _, pin := range run.Plan.Tools {
		pinned[pin.Slug] = pin.Version
	}
	for _, i := range invocations {
		if want, ok := pinned[i.Tool]; ok && i.Version != "" { // Without a version it was refused.
			require.Equal(s.t, want, i.Version, "invocation %s of run %s", i.ID, run.ID)
		}
	}
}

// checkUpstream: every request belongs to an effect, was made by its version,
// and a call that must not be repeated was sent once. It returns the number of
// requests.
func (s *site) checkUpstream(byEffect map[string]invocationRow) int {
	s.t.Helper()
	requests, total := s.upstream.received()
	seen := map[string]map[string]string{} // Version of the platform by tool, then by ours.
	for key, of := range requests {
		i, ok := byEffect[key]
		require.True(s.t, ok, "a request has no effect: %s %v", key, of)
		for _, r := range of {
			require.Equal(s.t, i.Tool, r.slug)
			if seen[r.slug] == nil {
				seen[r.slug] = map[string]string{}
			}
			if before, ok := seen[r.slug][i.Version]; ok {
				require.Equal(s.t, before, r.version, "%s@%s is two", i.Tool, i.Version)
			}
			seen[r.slug][i.Version] = r.version
		}
		if i.Tool == "sendIt" {
			require.Len(s.t, of, 1, "invocation %s, which must not be repeated, was sent again", i.ID)
		}
	}
	called := slices.Collect(maps.Keys(httpTools))
	for effect, i := range byEffect {
		if i.Status == tool.StatusCompleted && slices.Contains(called, i.Tool) {
			require.NotEmpty(s.t, requests[effect], "invocation %s is completed without a request", i.ID)
		}
	}
	return total
}
