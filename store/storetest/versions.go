package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

func testVersions(t *testing.T, d *Database) {
	t.Helper()
	t.Run("KeepsTheSnapshotByte", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		v, err := f.Store.Version(t.Context(), f.Tenant, f.Tool.ID, f.Version.Digest)
		require.NoError(t, err)
		require.Equal(t, f.Version, *v)
		digest, err := v.Snapshot.Digest()
		require.NoError(t, err)
		require.Equal(t, v.Digest, digest, "what was stored is what was digested")
		for _, miss := range [][2]string{{f.Tool.ID, "0"}, {NewID(t), v.Digest}, {"no id", v.Digest}} {
			_, err := f.Store.Version(t.Context(), f.Tenant, miss[0], miss[1])
			RequireKind(t, tool.NotFound, err)
		}
	})

	t.Run("SameNumberSameContentIsKept", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		head := f.Tool
		head.Description = "two"
		draft := VersionOf(t, head, "1.1.0")
		draft.Published = false
		head, stored, err := f.Store.AddVersion(t.Context(), head, draft)
		require.NoError(t, err)
		require.False(t, stored.Published)
		now := time.Now().Truncate(time.Microsecond)
		draft.Published, draft.PublishedAt = true, &now
		head, published, err := f.Store.AddVersion(t.Context(), head, draft)
		require.NoError(t, err)
		require.Equal(t, stored.ID, published.ID)
		require.True(t, published.Published)
		require.True(t, now.Equal(*published.PublishedAt))

		draft.Published, draft.PublishedAt = false, nil
		head, again, err := f.Store.AddVersion(t.Context(), head, draft)
		require.NoError(t, err)
		require.True(t, again.Published, "a published version stays so")

		revision := head.Revision
		head.Description = "three"
		_, _, err = f.Store.AddVersion(t.Context(), head, VersionOf(t, head, "1.1.0"))
		RequireKind(t, tool.Conflict, err)
		found, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: head.ID})
		require.NoError(t, err)
		require.Equal(t, revision, found.Revision, "the head is not changed without the version")

		versions, err := f.Store.ListVersions(t.Context(), f.Tenant, head.ID)
		require.NoError(t, err)
		require.Len(t, versions, 2)
		require.Equal(t, "1.1.0", versions[0].Number, "newest first")
	})

	t.Run("GuardsRevisions", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		stale := f.Tool
		stale.Revision--
		_, _, err := f.Store.AddVersion(t.Context(), stale, VersionOf(t, stale, "2.0.0"))
		RequireKind(t, tool.Conflict, err)
		versions, err := f.Store.ListVersions(t.Context(), f.Tenant, f.Tool.ID)
		require.NoError(t, err)
		require.Len(t, versions, 1)
	})
}

func testAgents(t *testing.T, d *Database) {
	t.Helper()
	t.Run("KeepsEveryField", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		want := agent.Agent{
			ID: NewID(t), Tenant: f.Tenant, Slug: "triage", Status: tool.Draft, Version: "1.0.0",
			Definition: agent.Definition{
				Name: "Triage", Description: "d", Instructions: "Sort.", Model: "openai/x",
				ModelOptions: json.RawMessage(`{"t":0.10}`),
				Tools:        []tool.Ref{{Slug: "searchOrders", Constraint: "^1"}}, ToolMode: agent.ParallelSafe,
				Limits: agent.Limits{MaxTurns: 3},
			},
		}
		created, err := f.Store.CreateAgent(t.Context(), want)
		require.NoError(t, err)
		want.Revision, want.CreatedAt, want.UpdatedAt = 1, created.CreatedAt, created.UpdatedAt
		require.Equal(t, want, created)
		_, err = f.Store.CreateAgent(t.Context(), want)
		RequireKind(t, tool.Conflict, err)
		for _, name := range []string{want.ID, want.Slug} {
			found, err := f.Store.FindAgent(t.Context(), f.Tenant, name)
			require.NoError(t, err)
			require.Equal(t, want, found)
		}
		all, err := f.Store.ListAgents(t.Context(), f.Tenant, "support", 10)
		require.NoError(t, err)
		require.Equal(t, []agent.Agent{want}, all)
	})

	t.Run("GuardsRevisionsAndVersions", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		head := f.Agent
		head, v, err := f.Store.AddAgentVersion(t.Context(), head, AgentVersionOf(t, head, "1.0.0"))
		require.NoError(t, err)
		require.Equal(t, f.Agent.Revision+1, head.Revision)
		require.Equal(t, head.Definition, v.Snapshot)
		_, err = f.Store.UpdateAgent(t.Context(), f.Agent)
		RequireKind(t, tool.Conflict, err)
		head.Instructions = "Other."
		_, _, err = f.Store.AddAgentVersion(t.Context(), head, AgentVersionOf(t, head, "1.0.0"))
		RequireKind(t, tool.Conflict, err)
		versions, err := f.Store.ListAgentVersions(t.Context(), f.Tenant, head.ID)
		require.NoError(t, err)
		require.Equal(t, []agent.Version{v}, versions)
	})
}

// AgentVersionOf returns a published version of an agent's head.
func AgentVersionOf(tb testing.TB, head agent.Agent, number string) agent.Version {
	tb.Helper()
	digest, err := head.Definition.Digest()
	require.NoError(tb, err)
	return agent.Version{
		AgentID: head.ID, Tenant: head.Tenant, Number: number, Digest: digest, Published: true, Snapshot: head.Definition,
	}
}
