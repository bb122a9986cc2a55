package registrytest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

func exampleAgent(tenant tool.TenantID, slug string) agent.Agent {
	now := time.Now().UTC().Truncate(time.Millisecond)
	return agent.Agent{
		ID: newID(), Tenant: tenant, Slug: slug, Status: tool.Draft, Version: "1.0.0", CreatedAt: now, UpdatedAt: now,
		Definition: agent.Definition{
			Name: "Desk", Instructions: "Help & be <brief>.", Model: "scripted/desk",
			ModelOptions: json.RawMessage(`{"seed":12345678901234567890}`),
			Tools:        []tool.Ref{{Slug: "findOrder", Constraint: "^1"}}, ToolMode: agent.ParallelSafe,
			Limits: agent.Limits{MaxTurns: 3},
		},
	}
}

func agentVersionOf(t *testing.T, a agent.Agent, number string) agent.Version {
	t.Helper()

	digest, err := a.Definition.Digest()
	require.NoError(t, err)
	return agent.Version{
		ID: newID(), AgentID: a.ID, Tenant: a.Tenant, Slug: a.Slug, Number: number, Digest: digest,
		Snapshot: a.Definition, CreatedAt: time.Now().UTC().Truncate(time.Millisecond),
	}
}

func testAgentRoundTrip(t *testing.T, f Fixture) {
	t.Helper()

	want := exampleAgent(f.Tenant, "desk")
	stored, err := f.Store.CreateAgent(t.Context(), want)
	require.NoError(t, err)
	for _, name := range []string{stored.Slug, stored.ID} {
		got, err := f.Store.FindAgent(t.Context(), f.Tenant, name)
		require.NoError(t, err)
		digestWant, err := want.Definition.Digest()
		require.NoError(t, err)
		digestGot, err := got.Definition.Digest()
		require.NoError(t, err)
		require.Equal(t, digestWant, digestGot)
		require.Equal(t, want.Status, got.Status)
		require.Equal(t, want.Version, got.Version)
	}
	_, err = f.Store.CreateAgent(t.Context(), exampleAgent(f.Tenant, "desk"))
	requireKind(t, tool.Conflict, err)

	late := stored
	stored.Status = tool.Disabled
	stored, err = f.Store.UpdateAgent(t.Context(), stored)
	require.NoError(t, err)
	require.Equal(t, tool.Disabled, stored.Status)
	_, err = f.Store.UpdateAgent(t.Context(), late)
	requireKind(t, tool.Conflict, err)
	require.ErrorIs(t, err, definition.ErrChanged)

	for _, slug := range []string{"alpha", "omega"} {
		_, err = f.Store.CreateAgent(t.Context(), exampleAgent(f.Tenant, slug))
		require.NoError(t, err)
	}
	page, err := f.Store.ListAgents(t.Context(), f.Tenant, "alpha", 1)
	require.NoError(t, err)
	require.Len(t, page, 1)
	require.Equal(t, "desk", page[0].Slug)
}

func testAgentIsolation(t *testing.T, f Fixture) {
	t.Helper()

	theirs, err := f.Store.CreateAgent(t.Context(), exampleAgent(f.Other, "desk"))
	require.NoError(t, err)
	for _, name := range []string{theirs.Slug, theirs.ID} {
		_, err = f.Store.FindAgent(t.Context(), f.Tenant, name)
		requireKind(t, tool.NotFound, err)
	}
	_, err = f.Store.ListAgentVersions(t.Context(), f.Tenant, theirs.ID)
	requireKind(t, tool.NotFound, err)
	stolen := theirs
	stolen.Tenant = f.Tenant
	_, err = f.Store.UpdateAgent(t.Context(), stolen)
	requireKind(t, tool.NotFound, err)
	_, _, err = f.Store.AddAgentVersion(t.Context(), stolen, agentVersionOf(t, stolen, "1.0.0"))
	requireKind(t, tool.NotFound, err)
	list, err := f.Store.ListAgents(t.Context(), f.Tenant, "", 10)
	require.NoError(t, err)
	require.Empty(t, list)
}

func testAgentVersions(t *testing.T, f Fixture) {
	t.Helper()

	a, err := f.Store.CreateAgent(t.Context(), exampleAgent(f.Tenant, "desk"))
	require.NoError(t, err)
	first := agentVersionOf(t, a, "1.0.0")
	a, stored, err := f.Store.AddAgentVersion(t.Context(), a, first)
	require.NoError(t, err)
	require.Equal(t, first.Digest, stored.Digest)
	first.Published = true
	a, stored, err = f.Store.AddAgentVersion(t.Context(), a, first)
	require.NoError(t, err)
	require.True(t, stored.Published)
	a.Instructions = "Changed."
	_, _, err = f.Store.AddAgentVersion(t.Context(), a, agentVersionOf(t, a, "1.0.0"))
	requireKind(t, tool.Conflict, err)
	a, _, err = f.Store.AddAgentVersion(t.Context(), a, agentVersionOf(t, a, "1.0.1"))
	require.NoError(t, err)
	versions, err := f.Store.ListAgentVersions(t.Context(), f.Tenant, a.ID)
	require.NoError(t, err)
	require.Len(t, versions, 2)
	require.Equal(t, "1.0.1", versions[0].Number, "newest first")
	require.Equal(t, "Help & be <brief>.", versions[1].Snapshot.Instructions)
}
