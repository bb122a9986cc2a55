package storetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

// Switch switches a tool on or off for a tenant, or for all with the empty one.
func (f *Fixture) Switch(tb testing.TB, tenant tool.TenantID, toolID string, on bool) {
	tb.Helper()
	f.override(tb, tool.Override{Tenant: tenant, ToolID: toolID, Enabled: &on})
}

func (f *Fixture) override(tb testing.TB, o tool.Override) {
	tb.Helper()
	var store registry.Store = f.Store
	if o.Tenant == "" {
		store = f.Platform.Registry()
	}
	_, err := store.SetOverride(tb.Context(), o)
	require.NoError(tb, err)
}

// global publishes a global tool, makes e a call of it where there is one, and returns its
// id.
func (f *Fixture) global(tb testing.TB, e *ledger.Entry) string {
	tb.Helper()
	shared := f.Platform.Registry()
	head, err := shared.CreateTool(tb.Context(), tool.Tool{
		Slug: "g" + uuid.NewString()[:8], Status: tool.Published, Active: true, Version: "1.0.0",
		Definition: tool.Definition{Name: "Shared", Implementation: tool.HTTP},
	})
	require.NoError(tb, err)
	head, version, err := shared.AddVersion(tb.Context(), head, VersionOf(tb, head, "1.0.0"))
	require.NoError(tb, err)
	if e != nil {
		e.ToolID, e.Slug, e.Digest = head.ID, head.Slug, version.Digest
	}
	return head.ID
}

// testOverrides tests what a decision about a tool does to calls of runs that are under
// way: admitted alone, and recorded with the turn.
func testOverrides(t *testing.T, d *Database) {
	t.Helper()
	record := func(t *testing.T, f *Fixture, e ledger.Entry) *ledger.Ticket {
		t.Helper()
		done, err := f.Store.Record(t.Context(), loop.Record{
			Tenant: f.Tenant, RunID: f.Run.ID, Begin: []ledger.AdmitRequest{{Entry: e, Repeatable: true, Send: true}},
		})
		require.NoError(t, err)
		return done.Tickets[0]
	}

	t.Run("ACallIsHeldWhereAnApprovalIsRequired", func(t *testing.T) {
		t.Parallel()
		for _, tenant := range []bool{true, false} {
			f := NewFixture(t, d)
			e := f.Entry(t)
			id := f.global(t, &e)
			f.Switch(t, "", id, true)
			require.False(t, f.Admit(t, e, true, true).Policy.RequiresApproval)
			asks := tool.Override{ToolID: id, Enabled: &[]bool{true}[0], RequiresApproval: true}
			if tenant {
				asks.Tenant = f.Tenant
			}
			f.override(t, asks)
			held := f.Lone(t)
			held.ToolID, held.Slug, held.Digest = e.ToolID, e.Slug, e.Digest
			require.True(t, f.Admit(t, held, true, true).Policy.RequiresApproval)
			call, err := f.Store.FindInvocation(t.Context(), f.Tenant, held.InvocationID)
			require.NoError(t, err)
			require.Equal(t, tool.StatusPending, call.Status, "nothing is sent before a person approves it")

			pinned := f.Lone(t)
			pinned.ToolID, pinned.Slug, pinned.Digest = e.ToolID, e.Slug, e.Digest
			require.Nil(t, record(t, f, pinned), "what needs an approval is not begun with the turn")
		}
	})

	t.Run("AJournalLeavesWhatIsSwitchedOff", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		require.NotNil(t, record(t, f, f.Lone(t)))
		f.Switch(t, f.Tenant, f.Tool.ID, false)
		require.Nil(t, record(t, f, f.Lone(t)))
		f.Switch(t, f.Tenant, f.Tool.ID, true)
		require.NotNil(t, record(t, f, f.Lone(t)))

		e := f.Lone(t)
		id := f.global(t, &e)
		require.Nil(t, record(t, f, e), "a global tool is off until it is switched on")
		f.Switch(t, f.Tenant, id, true)
		require.NotNil(t, record(t, f, e))
	})
}
