package chaos_test

import (
	"encoding/json"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// checkEvents: the events of a run, and the output between them, are numbered
// without gaps; each invocation ends once, and the run with its status. A run
// that was reset or terminated by hand may have ended before.
func (s *site) checkEvents(run runRow, invocations []invocationRow) {
	s.t.Helper()
	type eventRow struct {
		Seq        int64
		Type       tool.EventType
		Invocation string
	}
	runEnds := map[tool.EventType]agent.RunStatus{
		agent.EventRunCompleted: agent.RunCompleted, agent.EventRunFailed: agent.RunFailed,
		agent.EventRunCancelled: agent.RunCancelled,
	}
	var last int64
	var ended []agent.RunStatus
	ends := map[string]tool.EventType{}
	for _, e := range query[eventRow](s.t.Context(), s, `
		select seq, type, coalesce(invocation_id::text, '') from run_events where tenant_id = $1 and run_id = $2
		union all select seq, 'output', '' from run_output where tenant_id = $1 and run_id = $2 order by 1`, s.tenant,
		run.ID) {
		last++
		require.Equal(s.t, last, e.Seq, "the events of run %s have a gap", run.ID)
		if status, ok := runEnds[e.Type]; ok {
			ended = append(ended, status)
			continue
		}
		switch e.Type { //nolint:exhaustive // The others are no ends.
		case tool.EventCompleted, tool.EventFailed, tool.EventCancelled, tool.EventRejected, tool.EventExpired:
			require.NotContains(s.t, ends, e.Invocation, "invocation %s ends twice", e.Invocation)
			ends[e.Invocation] = e.Type
		}
	}
	require.Equal(s.t, run.LastSeq, last, "run %s", run.ID)
	want := map[string]tool.EventType{}
	for _, i := range invocations {
		want[i.ID] = tool.EndEvent(i.Status)
	}
	require.Equal(s.t, want, ends, "the ends of the invocations of run %s", run.ID)
	require.NotEmpty(s.t, ended, "run %s has no end", run.ID)
	require.Equal(s.t, run.Status, ended[len(ended)-1], "the last end of run %s", run.ID)
	if !s.handled[run.WorkflowID] {
		// An end that the platform wrote gives way to another that the execution reports.
		require.Len(s.t, slices.Compact(slices.Clone(ended)), len(ended), "run %s ends twice: %v", run.ID, ended)
		require.LessOrEqual(s.t, len(ended), 2, "run %s ends again and again: %v", run.ID, ended)
	}
}

// checkTranscript: in the transcript of a completed run every call is answered
// once, and no answer is without its call.
func (s *site) checkTranscript(run runRow) {
	s.t.Helper()
	if run.Kind != agent.RunKindAgent || run.Status != agent.RunCompleted {
		return
	}
	type messageRow struct {
		ID, Parent string
		Role       agent.Role
		Position   int
		Calls      json.RawMessage
	}
	rows := query[messageRow](s.t.Context(), s, `
		with recursive chain as (
			select m.* from messages m join runs r on r.tenant_id = m.tenant_id and r.head_message_id = m.id
			where r.tenant_id = $1 and r.id = $2
			union all
			select m.* from chain c join messages m on m.tenant_id = c.tenant_id and m.id = c.parent_id
		)
		select id::text, coalesce(parent_id::text, ''), role, coalesce(position, 0), coalesce(calls, 'null') from chain
		union all
		select m.id::text, m.parent_id::text, m.role, coalesce(m.position, 0), coalesce(m.calls, 'null')
		from messages m join chain c on c.id = m.parent_id where m.tenant_id = $1 and m.role = 'tool'`, s.tenant, run.ID)
	answers, calls := map[string]map[int]int{}, map[string]int{}
	for _, m := range rows {
		switch m.Role {
		case agent.RoleTool:
			if answers[m.Parent] == nil {
				answers[m.Parent] = map[int]int{}
			}
			answers[m.Parent][m.Position]++
		case agent.RoleAssistant:
			var made []json.RawMessage
			require.NoError(s.t, json.Unmarshal(m.Calls, &made))
			calls[m.ID] = len(made)
		case agent.RoleSystem, agent.RoleUser:
		}
	}
	for id, n := range calls {
		require.Len(s.t, answers[id], n, "the calls of message %s of run %s", id, run.ID)
		for position, times := range answers[id] {
			require.Less(s.t, position, n)
			require.Equal(s.t, 1, times, "answer %d of message %s of run %s", position, id, run.ID)
		}
	}
}
