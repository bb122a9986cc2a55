package storetest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func testAdmit(t *testing.T, d *Database) {
	t.Helper()
	t.Run("OpensTheCall", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		e.Receipt = json.RawMessage(`[{"path":"/q"}]`)
		ticket := f.Admit(t, e, false, false)
		require.Equal(t, ledger.Ticket{
			InvocationID: e.InvocationID, Fence: 1, Attempt: 1, Policy: f.Tool.Policy, Arguments: f.Turn.Calls[0].Arguments,
		}, ticket)
		record, err := f.Store.FindInvocation(t.Context(), f.Tenant, e.InvocationID)
		require.NoError(t, err)
		require.Equal(t, tool.Invocation{
			CallIdentity: tool.CallIdentity{
				Principal: tool.Principal{Tenant: f.Tenant, Subject: f.Principal.Subject}, Mode: tool.Production,
				RunID: f.Run.ID, AgentID: f.Agent.ID, Turn: 1, CallID: "call_1", InvocationID: e.InvocationID,
				EffectID: e.EffectID,
			},
			VersionIdentity: tool.VersionIdentity{
				ToolID: f.Tool.ID, Slug: f.Tool.Slug, Version: "1.0.0", Digest: f.Version.Digest, Implementation: tool.HTTP,
			},
			Status:         tool.StatusRunning,
			ApprovalStatus: tool.ApprovalNotRequired, EgressClass: tool.EgressNone, Attempt: 1,
			Input: f.Turn.Calls[0].Arguments, Receipt: e.Receipt, CreatedAt: record.CreatedAt, StartedAt: record.StartedAt,
		}, record)
		require.NotNil(t, record.StartedAt)
		require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventTurn, tool.EventStarted},
			f.EventTypes(t, f.Run.ID))
	})

	t.Run("ReadsAuthorityNow", func(t *testing.T) { testAuthority(t, d) })

	t.Run("ReturnsThePolicyNow", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.edit(t, func(x *tool.Tool) { x.RequiredPermission, x.RequiresApproval = "orders.write", true })
		ticket := f.Admit(t, f.Entry(t), false, false)
		require.Equal(t, "orders.write", ticket.Policy.RequiredPermission)
		require.True(t, ticket.Policy.RequiresApproval)
	})

	t.Run("ReadmitsUnderANewFence", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		f.Admit(t, e, false, false)
		reset := e
		reset.InvocationID = NewID(t)
		second := f.Admit(t, reset, false, false)
		require.Equal(t, int64(2), second.Fence)
		require.Equal(t, 2, second.Attempt)
		require.Equal(t, e.InvocationID, second.InvocationID, "the ledger keeps the first id")
		RequireKind(t, tool.Conflict, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, 1))
		require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, 2))
	})

	t.Run("SentAndNotRepeatableIsUnknown", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, false, false)
		require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
		_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e})
		RequireKind(t, tool.Unknown, err)
		again := f.Admit(t, e, true, false)
		require.Equal(t, int64(2), again.Fence)
	})

	t.Run("DoneAnswers", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, false, false)
		settled, err := f.Store.Settle(t.Context(), Completed(e, ticket.Fence))
		require.NoError(t, err)
		again := f.Admit(t, e, false, false)
		settled.Won = false
		require.Equal(t, settled, *again.Done)
		require.Zero(t, again.Fence)

		disabled := f.Tool
		disabled.Status = tool.Disabled
		_, err = f.Store.UpdateTool(t.Context(), disabled)
		require.NoError(t, err)
		again = f.Admit(t, e, false, false)
		require.Equal(t, settled, *again.Done, "what was done stays done")
	})

	t.Run("AnotherCallsKeyIsAConflict", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Lone(t)
		ticket := f.Admit(t, e, true, true)
		for range 2 { // While it runs, and afterwards.
			other := e
			other.InvocationID, other.Arguments = NewID(t), json.RawMessage(`{"q":"b"}`)
			_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: other, Repeatable: true})
			RequireKind(t, tool.Conflict, err)
			other = e
			other.Digest = f.NewVersion(t)
			_, err = f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: other, Repeatable: true})
			RequireKind(t, tool.Conflict, err)
			_, err = f.Store.Settle(t.Context(), Completed(e, ticket.Fence))
			require.NoError(t, err)
		}
		same := e
		same.Arguments = json.RawMessage(` { "q" : "a" } `)
		require.NotNil(t, f.Admit(t, same, true, true).Done, "white space does not change the digest")
	})

	t.Run("NeedsItsArguments", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		e.Position = 7
		_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e})
		RequireKind(t, tool.NotFound, err)
		e = f.Lone(t)
		e.Arguments = json.RawMessage(`{"q":`)
		_, err = f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e})
		RequireKind(t, tool.Invalid, err)
		e.Arguments = nil
		require.Nil(t, f.Admit(t, e, true, true).Arguments)
	})

	t.Run("WarnsOfDeprecation", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		old := f.Tool
		old.Status = tool.Deprecated
		_, err := f.Store.UpdateTool(t.Context(), old)
		require.NoError(t, err)
		e := f.Entry(t)
		require.True(t, f.Admit(t, e, true, false).Deprecated)
		f.Admit(t, e, true, false)
		require.Equal(t, []tool.EventType{
			agent.EventRunStarted, agent.EventTurn, tool.EventStarted, tool.EventWarning, tool.EventStarted,
		},
			f.EventTypes(t, f.Run.ID), "once for a call")
	})
}

// testAuthority changes the inputs of the admission check one at a time.
func testAuthority(t *testing.T, d *Database) {
	t.Helper()
	tests := []struct {
		name string
		when func(t *testing.T, f *Fixture, e *ledger.Entry)
		want tool.Kind // Empty when the call is admitted.
	}{
		{"TenantSuspended", func(t *testing.T, f *Fixture, _ *ledger.Entry) {
			t.Helper()
			_, err := f.Platform.SetTenantStatus(t.Context(), f.Tenant, store.TenantSuspended)
			require.NoError(t, err)
		}, tool.Denied},
		{"TenantUnknown", func(t *testing.T, _ *Fixture, e *ledger.Entry) {
			t.Helper()
			e.Principal.Tenant = tool.TenantID(NewID(t))
		}, tool.NotFound},
		{"RunUnknown", func(t *testing.T, _ *Fixture, e *ledger.Entry) { t.Helper(); e.RunID = NewID(t) }, tool.NotFound},
		{"ToolUnknown", func(t *testing.T, _ *Fixture, e *ledger.Entry) { t.Helper(); e.ToolID = NewID(t) }, tool.NotFound},
		{"ToolUnnamed", func(_ *testing.T, _ *Fixture, e *ledger.Entry) { e.ToolID = "" }, tool.NotFound},
		{"NotServed", func(t *testing.T, f *Fixture, _ *ledger.Entry) {
			t.Helper()
			f.edit(t, func(x *tool.Tool) { x.TenantSlugs = []string{"somebody-else"} })
		}, tool.NotFound},
		{"Disabled", func(t *testing.T, f *Fixture, _ *ledger.Entry) {
			t.Helper()
			f.edit(t, func(x *tool.Tool) { x.Status = tool.Disabled })
		}, tool.Conflict},
		{"Inactive", func(t *testing.T, f *Fixture, _ *ledger.Entry) {
			t.Helper()
			f.edit(t, func(x *tool.Tool) { x.Active = false })
		}, tool.Conflict},
		{"Quarantined", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.edit(t, func(x *tool.Tool) { x.Quarantine = "its server changed it" })
			e.Mode = tool.Debug
		}, tool.Conflict},
		{"SwitchedOff", func(t *testing.T, f *Fixture, _ *ledger.Entry) {
			t.Helper()
			f.Switch(t, f.Tenant, f.Tool.ID, false)
		}, tool.Conflict},
		{"SwitchedOffInDebug", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.Switch(t, f.Tenant, f.Tool.ID, false)
			e.Mode = tool.Debug
		}, tool.Conflict},
		{"SwitchedOn", func(t *testing.T, f *Fixture, _ *ledger.Entry) {
			t.Helper()
			f.Switch(t, f.Tenant, f.Tool.ID, true)
		}, ""},
		{"SwitchedOffForAnother", func(t *testing.T, f *Fixture, _ *ledger.Entry) {
			t.Helper()
			f.Switch(t, f.Database.Tenant(t), f.global(t, nil), false)
		}, ""},
		{"GlobalWithoutASwitch", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.global(t, e)
		}, tool.Conflict},
		{"GlobalSwitchedOnForAll", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.Switch(t, "", f.global(t, e), true)
		}, ""},
		{"GlobalSwitchedOffForAll", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.Switch(t, "", f.global(t, e), false)
		}, tool.Conflict},
		{"GlobalSwitchedOnByTheTenant", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			id := f.global(t, e)
			f.Switch(t, "", id, false)
			f.Switch(t, f.Tenant, id, true)
		}, ""},
		{"GlobalSwitchedOffByTheTenant", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			id := f.global(t, e)
			f.Switch(t, "", id, true)
			f.Switch(t, f.Tenant, id, false)
		}, tool.Conflict},
		{"DisabledInDebug", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.edit(t, func(x *tool.Tool) { x.Status = tool.Disabled })
			e.Mode = tool.Debug
		}, tool.Conflict},
		{"DraftInProduction", func(t *testing.T, f *Fixture, _ *ledger.Entry) {
			t.Helper()
			f.edit(t, func(x *tool.Tool) { x.Status = tool.Draft })
		}, tool.Conflict},
		{"DraftInDebug", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.edit(t, func(x *tool.Tool) { x.Status = tool.Draft })
			e.Mode = tool.Debug
		}, ""},
		{
			"VersionUnknown",
			func(_ *testing.T, _ *Fixture, e *ledger.Entry) { e.Digest = "0" + e.Digest[1:] },
			tool.NotFound,
		},
		{
			"HeadInDebug", func(_ *testing.T, _ *Fixture, e *ledger.Entry) { e.Digest, e.Mode = "0"+e.Digest[1:], tool.Debug },
			"",
		},
		{
			"ArtifactActive",
			func(t *testing.T, f *Fixture, e *ledger.Entry) {
				t.Helper()
				f.artifact(t, e, definition.ArtifactActive)
			}, "",
		},
		{"ArtifactDeprecated", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.artifact(t, e, definition.ArtifactDeprecated)
		}, ""},
		{"ArtifactDisabled", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.artifact(t, e, definition.ArtifactDisabled)
		}, tool.Conflict},
		{"ArtifactDisabledInAnOlderVersion", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.artifact(t, e, definition.ArtifactDisabled)
			f.edit(t, func(x *tool.Tool) { x.Artifact = nil }) // The head has another program.
		}, tool.Conflict},
		{"ArtifactDisabledOfTheHead", func(t *testing.T, f *Fixture, e *ledger.Entry) {
			t.Helper()
			f.artifact(t, e, definition.ArtifactDisabled)
			e.Digest, e.Mode = "0"+e.Digest[1:], tool.Debug
		}, tool.Conflict},
		{
			"VersionUnpublished", func(t *testing.T, f *Fixture, e *ledger.Entry) { t.Helper(); e.Digest = f.NewVersion(t) },
			tool.Conflict,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := NewFixture(t, d)
			e := f.Entry(t)
			tt.when(t, f, &e)
			_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e})
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			RequireKind(t, tt.want, err)
			_, err = f.Store.FindInvocation(t.Context(), f.Tenant, e.InvocationID)
			RequireKind(t, tool.NotFound, err) // Nothing was written.
			require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventTurn}, f.EventTypes(t, f.Run.ID))
		})
	}
}

// artifact changes the call to a version that runs an artifact of that status.
func (f *Fixture) artifact(tb testing.TB, e *ledger.Entry, status definition.ArtifactStatus) {
	tb.Helper()
	a, err := f.Store.CreateArtifact(tb.Context(), artifact.Artifact{
		Tenant: f.Tenant, Slug: "quote", Language: "jq", Status: status,
	})
	require.NoError(tb, err)
	changed := f.Tool
	changed.Artifact = &tool.ArtifactPin{ID: a.ID, Version: "1.0.0", Digest: digestB}
	changed.Version = "1.1.0"
	version := VersionOf(tb, changed, changed.Version)
	f.Tool, version, err = f.Store.AddVersion(tb.Context(), changed, version)
	require.NoError(tb, err)
	require.Equal(tb, changed.Artifact, version.Snapshot.Artifact)
	require.Equal(tb, changed.Artifact, f.Tool.Artifact)
	e.Digest, e.Version, e.Implementation = version.Digest, version.Number, tool.Artifact
}

// edit changes the fixture's tool.
func (f *Fixture) edit(tb testing.TB, change func(*tool.Tool)) {
	tb.Helper()
	changed := f.Tool
	change(&changed)
	var err error
	f.Tool, err = f.Store.UpdateTool(tb.Context(), changed)
	require.NoError(tb, err)
}

// NewVersion adds an unpublished version to the fixture's tool and returns its
// digest.
func (f *Fixture) NewVersion(tb testing.TB) string {
	tb.Helper()
	changed := f.Tool
	changed.Description += "+"
	changed.Version += "1"
	version := VersionOf(tb, changed, changed.Version)
	version.Published = false
	var err error
	f.Tool, version, err = f.Store.AddVersion(tb.Context(), changed, version)
	require.NoError(tb, err)
	return version.Digest
}
