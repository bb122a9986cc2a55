package worker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// Who runs a call follows from the implementation type, and each type has an
// activity of its own.
func TestTypesSayWhoRunsCalls(t *testing.T) {
	t.Parallel()

	others := map[tool.Implementation]tool.RunBy{
		tool.Client: tool.RunByClient, tool.Input: tool.RunByClient, tool.Provider: tool.RunByProvider,
		tool.AgentCall: tool.RunByWorkflow, tool.Task: tool.RunByWorkflow, tool.Composition: tool.RunByWorkflow,
		tool.Graph: tool.RunByWorkflow,
	}
	types := worker.Types(worker.Known{})
	require.NoError(t, types.Check())
	activities := map[string]bool{}
	for _, x := range types {
		require.Equal(t, others[x.Implementation], x.RunBy, x.Implementation)
		activities[wire.InvokeActivity(x.Implementation)] = true
	}
	require.Len(t, activities, len(types))
	require.True(t, activities["toolcrib.InvokeHTTP"])
	require.True(t, activities["toolcrib.InvokeRAGRetrieval"])
	require.True(t, activities["toolcrib.InvokeAgentCall"])
}
