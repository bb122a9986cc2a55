package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// runCases are the foreign-tenant cases of runs and their turns.
var runCases = map[string]func(t *testing.T, f foreign){
	"CreateRun": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.CreateRun(
			t.Context(), agent.Run{Tenant: f.stranger, Kind: agent.RunKindAgent, AgentID: f.Agent.ID, WorkflowID: "w"},
			agent.Message{},
		)
		RequireKind(t, tool.NotFound, err)
	},
	"Begin": func(t *testing.T, f foreign) {
		t.Helper()
		run := agent.Run{ID: f.Run.ID, Tenant: f.stranger, Kind: agent.RunKindAgent}
		_, _, err := f.Store.Begin(t.Context(), run, "run/1")
		RequireKind(t, tool.NotFound, err)
	},
	"Record": func(t *testing.T, f foreign) {
		t.Helper()
		e := f.Lone(t)
		f.Fixture.Admit(t, e, true, true)
		next, turn := f.Lone(t), f.TurnOf(t, f.Run.HeadMessageID, 2)
		e.Principal.Tenant, next.Principal.Tenant, turn.Tenant = f.stranger, f.stranger, f.stranger
		for _, r := range []loop.Record{
			{Ended: []ledger.Settlement{Completed(e, 1)}},
			{Turn: &turn},
			{Begin: []ledger.AdmitRequest{{Entry: next, Repeatable: true, Send: true}}},
		} {
			r.Tenant, r.RunID = f.stranger, f.Run.ID
			done, err := f.Store.Record(t.Context(), r)
			require.True(t, err != nil || done.Ended == 0 && !done.Turn && (len(r.Begin) == 0 || done.Tickets[0] == nil))
			r.Tenant = f.Tenant // Its parts are of another.
			done, err = f.Store.Record(t.Context(), r)
			require.NoError(t, err)
			require.True(t, done.Ended == 0 && !done.Turn && (len(r.Begin) == 0 || done.Tickets[0] == nil))
		}
	},
	"BeginRun": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.BeginRun(t.Context(), agent.Run{ID: f.Run.ID, Tenant: f.stranger, Kind: agent.RunKindAgent})
		RequireKind(t, tool.NotFound, err)
	},
	"FindCallEnd": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindCallEnd(t.Context(), f.stranger, f.Run.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"RequestCancel": func(t *testing.T, f foreign) {
		t.Helper()
		requested, err := f.Store.RequestCancel(t.Context(), f.stranger, f.Run.ID, "execution")
		require.NoError(t, err)
		require.False(t, requested)
		run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Empty(t, run.CancelExecution)
	},
	"Requests": func(t *testing.T, f foreign) {
		t.Helper()
		requested, err := f.Store.RequestCancel(t.Context(), f.Tenant, f.Run.ID, "execution")
		require.NoError(t, err)
		require.True(t, requested)
		requests, err := f.Store.Requests(t.Context(), f.stranger, []string{f.Run.ID})
		require.NoError(t, err)
		require.Empty(t, requests)
	},
	"ChangePause": func(t *testing.T, f foreign) {
		t.Helper()
		change := agent.PauseChange{Tenant: f.stranger, RunID: f.Run.ID, Pause: true, By: "x", Lease: time.Minute}
		_, err := f.Store.ChangePause(t.Context(), change)
		RequireKind(t, tool.NotFound, err)
		run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Nil(t, run.Paused)
	},
	"PauseDelivered": func(t *testing.T, f foreign) {
		t.Helper()
		round, err := f.Store.ChangePause(t.Context(), agent.PauseChange{
			Tenant: f.Tenant, RunID: f.Run.ID, Pause: true, By: "x", Lease: time.Millisecond,
		})
		require.NoError(t, err)
		u := agent.UndeliveredPause{Tenant: f.stranger, RunID: f.Run.ID, Round: round}
		require.NoError(t, f.Store.PauseDelivered(t.Context(), u))
		requirePauseDue(t, f.Database, f.Run, true)
		u.Tenant = f.Tenant
		require.NoError(t, f.Store.PauseDelivered(t.Context(), u))
		requirePauseDue(t, f.Database, f.Run, false)
	},
	"FindRun": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindRun(t.Context(), f.stranger, f.Run.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListRuns": func(t *testing.T, f foreign) {
		t.Helper()
		runs, err := f.Store.ListRuns(t.Context(), f.stranger, store.RunQuery{AgentID: f.Agent.ID})
		require.NoError(t, err)
		require.Empty(t, runs)
	},
	"Ancestors": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.Ancestors(t.Context(), f.stranger, f.Run.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"OpenTurn": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.OpenTurn(t.Context(), f.stranger, f.Run.ID, f.Turn.Message.ID, f.Turn.Key)
		RequireKind(t, tool.NotFound, err)
	},
	"FindHead": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindHead(t.Context(), f.stranger, f.Run.ID, f.Run.HeadMessageID)
		RequireKind(t, tool.NotFound, err)
	},
	"SaveTurn": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.SaveTurn(t.Context(), agent.Turn{Tenant: f.stranger, RunID: f.Run.ID, Key: "k"})
		RequireKind(t, tool.NotFound, err)
	},
	"AcceptRun": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.AcceptRun(t.Context(), agent.Acceptance{
			Run:   agent.Run{Tenant: f.stranger, Kind: agent.RunKindAgent, AgentID: f.Agent.ID, WorkflowID: "w"},
			Start: agent.Start{Workflow: "x", Input: []byte("{}")},
		})
		RequireKind(t, tool.NotFound, err)
	},
	"AddStart": func(t *testing.T, f foreign) { // The same workflow id is free: a tenant cannot probe another's ids.
		t.Helper()
		start := f.Start(t)
		start.Tenant, start.RunID = f.stranger, ""
		added, err := f.Store.AddStart(t.Context(), start, 0)
		require.NoError(t, err)
		require.True(t, added)
	},
	"FindStart": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindStart(t.Context(), agent.StartKey{Tenant: f.stranger, WorkflowID: f.Start(t).WorkflowID})
		RequireKind(t, tool.NotFound, err)
	},
	"DeleteStart": func(t *testing.T, f foreign) {
		t.Helper()
		start := f.Start(t)
		theirs := start
		theirs.Tenant = f.stranger
		require.NoError(t, f.Store.DeleteStart(t.Context(), theirs))
		f.findStart(t, start)
	},
	"PostponeStart": func(t *testing.T, f foreign) {
		t.Helper()
		start := f.Start(t)
		theirs := start
		theirs.Tenant = f.stranger
		require.NoError(t, f.Store.PostponeStart(t.Context(), theirs, time.Hour, "changed"))
		require.Empty(t, f.findStart(t, start).LastError)
	},
	"EndStart": func(t *testing.T, f foreign) {
		t.Helper()
		start := f.Start(t)
		theirs := start
		theirs.Tenant = f.stranger
		ended, err := f.Store.EndStart(t.Context(), theirs, agent.RunEnd{Status: agent.RunFailed})
		require.NoError(t, err)
		require.False(t, ended)
		f.findStart(t, start)
	},
	"EndPendingRun": func(t *testing.T, f foreign) {
		t.Helper()
		start := f.Start(t)
		ended, err := f.Store.EndPendingRun(t.Context(), agent.RunEnd{
			Tenant: f.stranger, RunID: start.RunID, Status: agent.RunFailed,
		})
		require.NoError(t, err)
		require.False(t, ended)
		f.findStart(t, start)
	},
	"FindRunOfWorkflow": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindRunOfWorkflow(t.Context(), f.stranger, f.Run.WorkflowID)
		RequireKind(t, tool.NotFound, err)
	},
	"FinishRun": func(t *testing.T, f foreign) {
		t.Helper()
		err := f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.stranger, RunID: f.Run.ID, Status: agent.RunFailed})
		RequireKind(t, tool.NotFound, err)
	},
}
