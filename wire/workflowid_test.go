package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

const (
	tenantID = tool.TenantID("01975c2e-7d1a-7c3e-9f00-000000000001")
	runID    = "01975c2e-7d1a-7c3e-9f00-0000000000c1"
)

// People read the slugs of a workflow id, and programs its ids.
func TestWorkflowIDs(t *testing.T) {
	t.Parallel()
	segment := wire.TenantSegment(tenantID, "acme")
	ingest, _ := wire.NewIngest(tenantID, "d", 1)
	for id, want := range map[string]struct{ whole, run string }{
		wire.NamedWorkflowID(segment, "support", runID): {"t/acme." + string(tenantID) + "/support/" + runID, runID},
		wire.NamedWorkflowID(string(tenantID), "support", runID): {
			"t/" + string(tenantID) + "/support/" + runID, runID,
		},
		wire.NamedWorkflowID(segment, "schedule", runID): {"t/acme." + string(tenantID) + "/schedule~/" + runID, runID},
		wire.RunWorkflowID(tenantID, runID):              {"t/" + string(tenantID) + "/run/" + runID, runID},
		wire.CallWorkflowID(tenantID, "order/1"):         {"t/" + string(tenantID) + "/call/order/1", ""},
		wire.CallWorkflowID(tenantID, runID):             {"t/" + string(tenantID) + "/call/" + runID, ""},
		ingest:                                           {"t/" + string(tenantID) + "/ingest/d/1", ""},
	} {
		require.Equal(t, want.whole, id)
		parsed, ours := wire.ParseWorkflowID(id)
		require.True(t, ours)
		require.Equal(t, tenantID, parsed.Tenant)
		require.Equal(t, want.run, parsed.Run())
		named, ours := wire.TenantOf(id)
		require.True(t, ours)
		require.Equal(t, tenantID, named)
		require.False(t, wire.IsScheduled(id), "an agent may be named schedule")
	}
	require.True(t, wire.IsScheduled(wire.ScheduleID(tenantID, "s")+"-2026-01-01T00:00:00Z"))
	require.Equal(t, segment, wire.SegmentOf(wire.NamedWorkflowID(segment, "a", runID), tenantID))
	require.Equal(t, string(tenantID), wire.SegmentOf("order-7", tenantID), "a host's")
	require.Equal(t, string(tenantID), wire.SegmentOf(wire.NamedWorkflowID("other."+runID, "a", runID), tenantID))
	require.Less(t, len(wire.NamedWorkflowID(wire.TenantSegment(tenantID, strings.Repeat("s", 63)),
		strings.Repeat("n", 64), runID)), 210)
}

// A slug never passes for a tenant.
func TestForeignWorkflowIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"", "order-7", "t/", "t/acme/support/" + runID, "t/" + string(tenantID) + ".acme/support/" + runID, "t/acme./a/b",
		"x/" + string(tenantID) + "/run/" + runID,
	} {
		_, ours := wire.ParseWorkflowID(id)
		require.False(t, ours, id)
		_, ours = wire.TenantOf(id)
		require.False(t, ours, id)
	}
}
