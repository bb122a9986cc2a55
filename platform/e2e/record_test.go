package e2e_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// The record of a call is durable before its tool does anything: the tool's own
// code finds it over another connection, by the id of its run.
func TestRecordStandsBeforeTheEffect(t *testing.T) {
	t.Parallel()

	type seen struct {
		info  function.Info
		calls []tool.Invocation
	}
	s := newSite(t)
	functions := function.NewRegistry()
	sights := make(map[string][]seen)
	tools := map[string]tool.Execution{
		"fastPure":          {Pure: true, Lane: tool.LaneFast, TimeoutSeconds: 5},
		"inPlaceIdempotent": {Idempotent: true, Lane: tool.LaneFast, TimeoutSeconds: 5},
		"visible":           {Pure: true, Lane: tool.LaneVisible},
		"once":              {},
	}
	for name, x := range tools {
		var options []function.Option
		if x.Pure {
			options = append(options, function.Pure())
		}
		if x.Idempotent {
			options = append(options, function.Idempotent())
		}
		require.NoError(t, function.Define(functions, name, name, func(ctx context.Context, in noteIn) (noteOut, error) {
			info, _ := function.InfoFrom(ctx)
			calls, err := s.ListInvocations(ctx, s.principal.Tenant, store.InvocationQuery{RunID: info.RunID, Limit: 10})
			sights[name] = append(sights[name], seen{info, calls})
			return noteOut(in), err
		}, options...))
		s.publish(name, functionTool(name, x), tool.Policy{})
	}
	s.start(worker.Config{Functions: functions})
	for name := range tools {
		_, id, _, err := s.toolCall(name, `{"name": "x"}`)
		require.NoError(t, err, name)
		require.Len(t, sights[name], 1, name)
		saw := sights[name][0]
		require.Equal(t, id, saw.info.RunID, name)
		require.Len(t, saw.calls, 1, name)
		require.Equal(t, tool.StatusRunning, saw.calls[0].Status, name)
		require.JSONEq(t, `{"name": "x"}`, string(saw.calls[0].Input), name)
		after := s.invocations(id)
		require.Len(t, after, 1, name)
		require.Equal(t, saw.calls[0].InvocationID, after[0].InvocationID, name)
		require.Equal(t, tool.StatusCompleted, after[0].Status, name)
	}
}
