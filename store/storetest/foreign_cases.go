package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// foreignCases has a case for every method of a store, called with the ids of another
// tenant. The result is never more than not_found.
var foreignCases = map[string]func(t *testing.T, f foreign){
	"LoadMCPSession": func(t *testing.T, f foreign) {
		t.Helper()
		key := f.mcpSession(t)
		kept, err := f.Store.LoadMCPSession(t.Context(), key)
		require.NoError(t, err)
		require.Nil(t, kept)
	},
	"SaveMCPSession": func(t *testing.T, f foreign) {
		t.Helper()
		key := f.mcpSession(t)
		_, begun := f.MCPSession("theirs")
		_, err := f.Store.SaveMCPSession(t.Context(), key, begun)
		RequireKind(t, tool.NotFound, err)
	},
	"DropMCPSession": func(t *testing.T, f foreign) {
		t.Helper()
		key := f.mcpSession(t)
		_, begun := f.MCPSession("ours")
		require.NoError(t, f.Store.DropMCPSession(t.Context(), key, begun))
		key.Tenant = f.Tenant
		kept, err := f.Store.LoadMCPSession(t.Context(), key)
		require.NoError(t, err)
		require.NotNil(t, kept)
	},
	"AddVersion": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.Tool
		stolen.Tenant = f.stranger
		_, _, err := f.Store.AddVersion(t.Context(), stolen, VersionOf(t, stolen, "2.0.0"))
		RequireKind(t, tool.NotFound, err)
	},
	"ListVersions": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.ListVersions(t.Context(), f.stranger, f.Tool.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"CreateAgent": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.CreateAgent(t.Context(), agent.Agent{
			Tenant: f.stranger, Slug: f.Agent.Slug, Status: tool.Draft, Version: "1.0.0",
		})
		require.NoError(t, err)
	},
	"UpdateAgent": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.Agent
		stolen.Tenant = f.stranger
		_, err := f.Store.UpdateAgent(t.Context(), stolen)
		RequireKind(t, tool.NotFound, err)
	},
	"FindAgent": func(t *testing.T, f foreign) {
		t.Helper()
		for _, name := range []string{f.Agent.ID, f.Agent.Slug} {
			_, err := f.Store.FindAgent(t.Context(), f.stranger, name)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListAgents": func(t *testing.T, f foreign) {
		t.Helper()
		agents, err := f.Store.ListAgents(t.Context(), f.stranger, "", 0)
		require.NoError(t, err)
		require.Empty(t, agents)
	},
	"AddAgentVersion": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.Agent
		stolen.Tenant = f.stranger
		_, _, err := f.Store.AddAgentVersion(t.Context(), stolen, AgentVersionOf(t, stolen, "2.0.0"))
		RequireKind(t, tool.NotFound, err)
	},
	"FindAgentVersions": func(t *testing.T, f foreign) {
		t.Helper()
		_, _, err := f.Store.FindAgentVersions(t.Context(), f.stranger, f.Agent.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListAgentVersions": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.ListAgentVersions(t.Context(), f.stranger, f.Agent.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"Entries": func(t *testing.T, f foreign) {
		t.Helper()
		for _, ref := range []tool.Ref{{ID: f.Tool.ID}, {Slug: f.Tool.Slug}} {
			c, err := f.Store.Entries(t.Context(), f.stranger, ref)
			require.NoError(t, err)
			require.Empty(t, c.Entries)
		}
	},
	"Page": func(t *testing.T, f foreign) {
		t.Helper()
		c, err := f.Store.Page(t.Context(), f.stranger, resolver.PageQuery{Limit: 10})
		require.NoError(t, err)
		require.Empty(t, c.Entries)
	},
	"Policies": func(t *testing.T, f foreign) {
		t.Helper()
		policies, err := f.Store.Policies(t.Context(), f.stranger, []string{f.Tool.ID})
		require.NoError(t, err)
		require.Empty(t, policies)
	},
	"Version": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.Version(t.Context(), f.stranger, f.Tool.ID, f.Version.Digest)
		RequireKind(t, tool.NotFound, err)
	},
	"VersionsOf": func(t *testing.T, f foreign) {
		t.Helper()
		ids, digests := []string{f.Tool.ID}, []string{f.Version.Digest}
		found, err := f.Store.VersionsOf(t.Context(), f.stranger, ids, digests)
		require.NoError(t, err)
		require.Empty(t, found)
		found, err = f.Store.VersionsOf(t.Context(), f.Tenant, ids, digests)
		require.NoError(t, err)
		one, err := f.Store.Version(t.Context(), f.Tenant, ids[0], digests[0])
		require.NoError(t, err)
		require.Equal(t, []*tool.Version{one}, found)
	},
	"CreateArtifact": func(t *testing.T, f foreign) { // The same slug is free, and only the tenant's own.
		t.Helper()
		f.upload(t, f.Tenant)
		f.upload(t, f.stranger)
		_, err := f.Store.CreateArtifact(t.Context(), artifact.Artifact{
			Tenant: tool.TenantID(NewID(t)), Slug: "quote", Language: "jq", Status: definition.ArtifactActive,
		})
		RequireKind(t, tool.NotFound, err)
	},
	"SaveArtifact": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.upload(t, f.Tenant)
		stolen.Tenant, stolen.Status = f.stranger, definition.ArtifactDisabled
		_, err := f.Store.SaveArtifact(t.Context(), stolen)
		RequireKind(t, tool.NotFound, err)
	},
	"FindArtifact": func(t *testing.T, f foreign) {
		t.Helper()
		for _, name := range []string{"quote", f.upload(t, f.Tenant).ID} {
			_, err := f.Store.FindArtifact(t.Context(), f.stranger, name)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListArtifacts": func(t *testing.T, f foreign) {
		t.Helper()
		f.upload(t, f.Tenant)
		artifacts, err := f.Store.ListArtifacts(t.Context(), f.stranger, "", 0)
		require.NoError(t, err)
		require.Empty(t, artifacts)
	},
	"AddArtifactVersion": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.upload(t, f.Tenant)
		stolen.Tenant = f.stranger
		_, _, err := f.Store.AddArtifactVersion(t.Context(), stolen,
			artifact.Version{Number: "2.0.0", Digest: digestB}, []byte("."))
		RequireKind(t, tool.NotFound, err)
	},
	"ListArtifactVersions": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.ListArtifactVersions(t.Context(), f.stranger, f.upload(t, f.Tenant).ID)
		RequireKind(t, tool.NotFound, err)
	},
	"LoadArtifact": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.LoadArtifact(t.Context(), f.stranger, f.upload(t, f.Tenant).ID, "1.0.0")
		RequireKind(t, tool.NotFound, err)
	},
	"CreateServer": func(t *testing.T, f foreign) { // The same slug is free, and only the tenant's own.
		t.Helper()
		f.attach(t, f.Tenant)
		f.attach(t, f.stranger)
		_, err := f.Store.CreateServer(t.Context(), mcpserver.Server{
			Tenant: tool.TenantID(NewID(t)), Slug: "files", Status: definition.ServerActive,
		})
		RequireKind(t, tool.NotFound, err)
	},
	"SaveServer": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.attach(t, f.Tenant)
		stolen.Tenant = f.stranger
		_, err := f.Store.SaveServer(t.Context(), stolen, mcpserver.Changes{})
		RequireKind(t, tool.NotFound, err)
		own := f.attach(t, f.stranger)
		_, err = f.Store.SaveServer(t.Context(), own, mcpserver.Changes{
			Put: []mcpserver.Tool{{Name: "read", ToolID: f.Tool.ID, State: mcpserver.StatePinned}},
		})
		RequireKind(t, tool.NotFound, err) // Another tenant's tool.
		_, err = f.Store.SaveServer(t.Context(), own, mcpserver.Changes{Stop: map[string]string{f.Tool.ID: "stopped"}})
		require.NoError(t, err)
		still, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: f.Tool.ID})
		require.NoError(t, err)
		require.Empty(t, still.Quarantine)
	},
	"TrustServer": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.attach(t, f.Tenant)
		stolen.Tenant = f.stranger
		_, err := f.Store.TrustServer(t.Context(), stolen, true)
		RequireKind(t, tool.NotFound, err)
	},
	"DetachServer": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.attach(t, f.Tenant)
		stolen.Tenant = f.stranger
		RequireKind(t, tool.NotFound, f.Store.DetachServer(t.Context(), stolen))
	},
	"FindServer": func(t *testing.T, f foreign) {
		t.Helper()
		for _, name := range []string{"files", f.attach(t, f.Tenant).ID} {
			_, err := f.Store.FindServer(t.Context(), f.stranger, name)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListServers": func(t *testing.T, f foreign) {
		t.Helper()
		f.attach(t, f.Tenant)
		servers, err := f.Store.ListServers(t.Context(), f.stranger, "", 0)
		require.NoError(t, err)
		require.Empty(t, servers)
	},
	"FindRemoteTool": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindRemoteTool(t.Context(), f.stranger, f.attach(t, f.Tenant).ID, "read")
		RequireKind(t, tool.NotFound, err)
	},
	"ListRemoteTools": func(t *testing.T, f foreign) {
		t.Helper()
		tools, err := f.Store.ListRemoteTools(t.Context(), f.stranger, f.attach(t, f.Tenant).ID, mcpserver.ToolQuery{})
		require.NoError(t, err)
		require.Empty(t, tools)
	},
	"FindToolOrigin": func(t *testing.T, f foreign) {
		t.Helper()
		f.attach(t, f.Tenant)
		_, err := f.Store.FindToolOrigin(t.Context(), f.stranger, f.Tool.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"PinTool": func(t *testing.T, f foreign) {
		t.Helper()
		server := f.attach(t, f.Tenant)
		require.NoError(t, f.Store.PinTool(t.Context(), f.stranger, f.Tool.ID, digestB, "user:eve"))
		still, err := f.Store.FindRemoteTool(t.Context(), f.Tenant, server.ID, "read")
		require.NoError(t, err)
		require.Equal(t, mcpserver.StateChanged, still.State)
	},
	"StopChangedTool": func(t *testing.T, f foreign) {
		t.Helper()
		f.attach(t, f.Tenant)
		pin := func(tenant tool.TenantID) {
			require.NoError(t, f.Store.PinTool(t.Context(), tenant, f.Tool.ID, digestB, "user:ada"))
		}
		quarantine := func() string {
			now, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: f.Tool.ID})
			require.NoError(t, err)
			return now.Quarantine
		}
		pin(f.Tenant)
		require.NoError(t, f.Store.StopChangedTool(t.Context(), f.stranger, f.Tool.ID, digestB, false))
		require.Empty(t, quarantine())
		require.NoError(t, f.Store.StopChangedTool(t.Context(), f.Tenant, f.Tool.ID, digestA, false))
		require.Empty(t, quarantine(), "the pin of an older version has no effect")
		require.NoError(t, f.Store.StopChangedTool(t.Context(), f.Tenant, f.Tool.ID, digestB, false))
		require.Contains(t, quarantine(), "changed its definition")
	},
	"ListServerTools": func(t *testing.T, f foreign) {
		t.Helper()
		f.attach(t, f.Tenant)
		changed := f.Tool
		changed.Implementation, changed.Config = tool.MCP, json.RawMessage(`{"server":"files","tool_name":"read"}`)
		_, err := f.Store.UpdateTool(t.Context(), changed)
		require.NoError(t, err)
		tools, err := f.Store.ListServerTools(t.Context(), f.stranger, "files")
		require.NoError(t, err)
		require.Empty(t, tools)
		tools, err = f.Store.ListServerTools(t.Context(), f.Tenant, "files")
		require.NoError(t, err)
		require.Len(t, tools, 1)
	},
	"Transcript": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.Transcript(t.Context(), f.stranger, f.Run.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"TranscriptPage": func(t *testing.T, f foreign) {
		t.Helper()
		_, _, err := f.Store.TranscriptPage(t.Context(), f.stranger, f.Run.ID, store.TranscriptPlace{})
		RequireKind(t, tool.NotFound, err)
	},
	"Admit": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.Entry(t)
		stolen.Principal.Tenant = f.stranger
		_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: stolen})
		RequireKind(t, tool.NotFound, err)
		stolen.RunID, stolen.MessageID, stolen.AgentID, stolen.ArgumentsStored = "", "", "", false // The tool alone.
		_, err = f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: stolen})
		RequireKind(t, tool.NotFound, err)
	},
	"MarkSent": func(t *testing.T, f foreign) {
		t.Helper()
		e := f.Lone(t)
		ticket := f.Fixture.Admit(t, e, false, false)
		RequireKind(t, tool.NotFound, f.Store.MarkSent(t.Context(), f.stranger, e.EffectID, ticket.Fence))
	},
	"MarkUnsent": func(t *testing.T, f foreign) {
		t.Helper()
		e := f.Lone(t)
		ticket := f.Fixture.Admit(t, e, true, true)
		RequireKind(t, tool.NotFound, f.Store.MarkUnsent(t.Context(), f.stranger, e.EffectID, ticket.Fence))
	},
	"Settle": func(t *testing.T, f foreign) {
		t.Helper()
		e := f.Lone(t)
		ticket := f.Fixture.Admit(t, e, true, true)
		stolen := e
		stolen.Principal.Tenant = f.stranger
		_, err := f.Store.Settle(t.Context(), Completed(stolen, ticket.Fence))
		RequireKind(t, tool.NotFound, err)
		stolen.EffectID = ""
		_, err = f.Store.Settle(t.Context(), Completed(stolen, 0))
		RequireKind(t, tool.NotFound, err) // The run.
		stolen.RunID, stolen.AgentID = "", ""
		outcome, err := f.Store.Settle(t.Context(), Completed(stolen, 0)) // Names the tool alone.
		require.NoError(t, err)
		record, err := f.Store.FindInvocation(t.Context(), f.stranger, outcome.InvocationID)
		require.NoError(t, err)
		require.Empty(t, record.ToolID, "the record must not refer to another tenant's tool")
		still, err := f.Store.FindInvocation(t.Context(), f.Tenant, ticket.InvocationID)
		require.NoError(t, err)
		require.Equal(t, tool.StatusRunning, still.Status)
	},
	"Records": func(t *testing.T, f foreign) {
		t.Helper()
		e := f.Lone(t)
		f.Fixture.Admit(t, e, true, true)
		records, err := f.Store.Records(t.Context(), f.stranger, []string{e.EffectID})
		require.NoError(t, err)
		require.Empty(t, records)
	},
	"FindInvocation": func(t *testing.T, f foreign) {
		t.Helper()
		ticket := f.Fixture.Admit(t, f.Lone(t), true, true)
		_, err := f.Store.FindInvocation(t.Context(), f.stranger, ticket.InvocationID)
		RequireKind(t, tool.NotFound, err)
	},
	"FindBriefInvocation": func(t *testing.T, f foreign) {
		t.Helper()
		ticket := f.Fixture.Admit(t, f.Lone(t), true, true)
		_, _, err := f.Store.FindBriefInvocation(t.Context(), f.stranger, ticket.InvocationID, 1)
		RequireKind(t, tool.NotFound, err)
	},
	"ListInvocations": func(t *testing.T, f foreign) {
		t.Helper()
		f.Fixture.Admit(t, f.Lone(t), true, true)
		found, err := f.Store.ListInvocations(t.Context(), f.stranger, store.InvocationQuery{RunID: f.Run.ID})
		require.NoError(t, err)
		require.Empty(t, found)
		found, err = f.Store.ListInvocations(t.Context(), f.stranger, store.InvocationQuery{RunID: f.Run.ID, Brief: true})
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"TurnCalls": func(t *testing.T, f foreign) {
		t.Helper()
		calls, err := f.Store.TurnCalls(t.Context(), f.stranger, f.Run.ID)
		require.NoError(t, err)
		require.Empty(t, calls)
	},
	"RecordModelRetry": func(t *testing.T, f foreign) {
		t.Helper()
		require.NoError(
			t, f.Store.RecordModelRetry(t.Context(), f.stranger, f.Run.ID, agent.ModelRetry{Turn: 1, Attempt: 1, TurnID: "x"}),
		)
		retries, err := f.Store.ModelRetries(t.Context(), f.Tenant, f.Run.ID, 0)
		require.NoError(t, err)
		require.Empty(t, retries)
	},
	"RecordWarning": func(t *testing.T, f foreign) {
		t.Helper()
		before, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.NoError(t, f.Store.RecordWarning(t.Context(), f.stranger, f.Run.ID, agent.Warning{Tool: "x", Reason: "y"}))
		after, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, before.LastSeq, after.LastSeq, "no event was added")
	},
	"ModelRetries": func(t *testing.T, f foreign) {
		t.Helper()
		require.NoError(
			t, f.Store.RecordModelRetry(t.Context(), f.Tenant, f.Run.ID, agent.ModelRetry{Turn: 1, Attempt: 1, TurnID: "x"}),
		)
		retries, err := f.Store.ModelRetries(t.Context(), f.stranger, f.Run.ID, 0)
		require.NoError(t, err)
		require.Empty(t, retries)
	},
	"FollowRun": func(t *testing.T, f foreign) {
		t.Helper()
		require.NoError(t, f.Store.FollowRun(t.Context(), f.stranger, f.Run.ID, time.Minute))
		open, err := f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, f.Turn.Message.ID, "k")
		require.NoError(t, err)
		require.False(t, open.Followed)
	},
	"ReadStream": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.ReadStream(t.Context(), f.stranger, f.Run.ID, 0, 0)
		RequireKind(t, tool.NotFound, err)
	},
	"AppendOutput": func(t *testing.T, f foreign) {
		t.Helper()
		err := f.Store.AppendOutput(t.Context(), agent.Output{
			Tenant: f.stranger, RunID: f.Run.ID, Turn: 1, Attempt: 1, Text: "x",
		})
		RequireKind(t, tool.NotFound, err)
		f.EventTypes(t, f.Run.ID) // Still without a gap.
	},
	"TenantEvents": func(t *testing.T, f foreign) {
		t.Helper()
		events, err := f.Store.TenantEvents(t.Context(), f.stranger, 0, 0)
		require.NoError(t, err)
		require.Empty(t, events)
	},
	"EventHorizon": func(t *testing.T, f foreign) { // That of the asking tenant's own events.
		t.Helper()
		place, err := f.Store.EventHorizon(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Zero(t, place)
	},
	"SealEvents": func(t *testing.T, f foreign) {
		t.Helper()
		require.NoError(t, f.Store.SealEvents(t.Context(), f.stranger))
		place, err := f.Store.EventHorizon(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Zero(t, place)
	},
	"FindTenant": func(t *testing.T, f foreign) { // It has no id but the asking tenant's own.
		t.Helper()
		found, err := f.Store.FindTenant(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Equal(t, f.stranger, found.ID)
	},
	"TenantSlug": func(t *testing.T, f foreign) { // As FindTenant.
		t.Helper()
		own, err := f.Store.FindTenant(t.Context(), f.stranger)
		require.NoError(t, err)
		slug, err := f.Store.TenantSlug(t.Context(), f.stranger)
		require.NoError(t, err)
		require.Equal(t, own.Slug, slug)
	},
	"SetTenantTaint": func(t *testing.T, f foreign) { // As FindTenant.
		t.Helper()
		changed, err := f.Store.SetTenantTaint(t.Context(), f.stranger, tool.TaintDeny)
		require.NoError(t, err)
		require.Equal(t, f.stranger, changed.ID)
		own, err := f.Store.FindTenant(t.Context(), f.Tenant)
		require.NoError(t, err)
		require.Equal(t, tool.TaintApprove, own.Taint, "new tenants ask")
		_, err = f.Store.SetTenantTaint(t.Context(), tool.TenantID(NewID(t)), tool.TaintOff)
		RequireKind(t, tool.NotFound, err)
	},
	"SetTenantMasking": func(t *testing.T, f foreign) { // As FindTenant.
		t.Helper()
		changed, err := f.Store.SetTenantMasking(t.Context(), f.stranger, false)
		require.NoError(t, err)
		require.Equal(t, f.stranger, changed.ID)
		require.False(t, changed.MaskSensitive)
		own, err := f.Store.FindTenant(t.Context(), f.Tenant)
		require.NoError(t, err)
		require.True(t, own.MaskSensitive)
		_, err = f.Store.SetTenantMasking(t.Context(), tool.TenantID(NewID(t)), false)
		RequireKind(t, tool.NotFound, err)
	},
}
