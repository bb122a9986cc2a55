package storetest

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// Fixture is a tenant with one of everything: a published tool, an agent, and
// a run of it that has begun and whose model asked for the tool once.
type Fixture struct {
	*Database
	Tenant    tool.TenantID
	Principal tool.Principal
	Tool      tool.Tool
	Version   tool.Version
	Agent     agent.Agent
	Run       agent.Run
	Turn      agent.Turn // With one call, of Tool.
}

// NewFixture fills a new tenant of the database.
func NewFixture(t testing.TB, d *Database) *Fixture {
	t.Helper()
	f := &Fixture{Database: d, Tenant: d.Tenant(t)}
	f.Principal = tool.Principal{Tenant: f.Tenant, Subject: "user:ada", Permissions: []string{"orders.read"}, Scopes: []string{"runs:write"}}
	f.Tool, f.Version = f.Publish(t, "searchOrders", tool.Policy{})
	f.Agent = f.newAgent(t, "support")
	f.Run = f.NewRun(t)
	f.Turn = f.NewTurn(t, f.Run, 1)
	return f
}

// Publish makes a tool of the tenant with one published version.
func (f *Fixture) Publish(t testing.TB, slug string, policy tool.Policy) (tool.Tool, tool.Version) {
	t.Helper()
	definition := tool.Definition{
		Name: slug, Description: "Does " + slug, Implementation: tool.HTTP,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`),
		Config:      json.RawMessage(`{"url":"https://api.example.com/orders"}`),
	}
	created, err := f.Store.CreateTool(t.Context(), tool.Tool{
		Tenant: f.Tenant, Slug: slug, Definition: definition, Policy: policy, Status: tool.Draft, Active: true, Version: "1.0.0",
	})
	require.NoError(t, err)
	created.Status = tool.Published
	published, version, err := f.Store.AddVersion(t.Context(), created, VersionOf(t, created, "1.0.0"))
	require.NoError(t, err)
	return published, version
}

// VersionOf returns a published version of a tool's head.
func VersionOf(t testing.TB, head tool.Tool, number string) tool.Version {
	t.Helper()
	snapshot := tool.Snapshot{Definition: head.Definition}
	digest, err := snapshot.Digest()
	require.NoError(t, err)
	return tool.Version{ToolID: head.ID, Tenant: head.Tenant, Number: number, Digest: digest, Published: true, Snapshot: snapshot}
}

func (f *Fixture) newAgent(t testing.TB, slug string) agent.Agent {
	t.Helper()
	created, err := f.Store.CreateAgent(t.Context(), agent.Agent{
		Tenant: f.Tenant, Slug: slug, Status: tool.Draft, Version: "1.0.0",
		Definition: agent.Definition{Name: slug, Instructions: "Help.", Model: "scripted/" + slug, Tools: []tool.Ref{{Slug: "searchOrders"}}},
	})
	require.NoError(t, err)
	return created
}

// NewRun makes a run of the agent that has begun.
func (f *Fixture) NewRun(t testing.TB) agent.Run {
	t.Helper()
	run, err := f.Store.CreateRun(t.Context(), agent.Run{
		Tenant: f.Tenant, Kind: agent.AgentRun, AgentID: f.Agent.ID, Agent: f.Agent.Slug, Mode: tool.Production,
		Principal: f.Principal, WorkflowID: "t/" + uuid.NewString(), Input: json.RawMessage(`{"ticket":9007199254740993}`),
	}, agent.Message{Role: agent.User, Content: []tool.Content{tool.Text("Where is my order?")}})
	require.NoError(t, err)
	run.Plan = &agent.Plan{
		AgentID: f.Agent.ID, Agent: f.Agent.Slug, AgentVersion: "1.0.0",
		Tools: []agent.Pin{{ToolID: f.Tool.ID, Slug: f.Tool.Slug, Version: f.Version.Number, Digest: f.Version.Digest, Implementation: tool.HTTP}},
	}
	run.FirstRunID = uuid.NewString()
	run, err = f.Store.BeginRun(t.Context(), run)
	require.NoError(t, err)
	return run
}

// NewTurn stores a turn of a run on its head, with one call of the tool.
func (f *Fixture) NewTurn(t testing.TB, run agent.Run, number int) agent.Turn {
	t.Helper()
	stored, err := f.Store.FindRun(t.Context(), f.Tenant, run.ID)
	require.NoError(t, err)
	arguments := json.RawMessage(`{"q":"a-17","n":9007199254740993}`)
	digest, err := tool.Digest(arguments)
	require.NoError(t, err)
	turn, err := f.Store.SaveTurn(t.Context(), agent.Turn{
		Tenant: f.Tenant, RunID: run.ID, Key: uuid.NewString(),
		Message: agent.Message{
			ParentID: stored.HeadMessageID, Turn: number, Role: agent.Assistant, Content: []tool.Content{tool.Text("Let me look.")},
			Calls: []agent.Call{{ID: "call_1", Name: f.Tool.Slug, Arguments: arguments}},
			Usage: &agent.Usage{InputTokens: 11, OutputTokens: 7},
		},
		Calls: []agent.PreparedCall{{
			InvocationID: NewID(t), CallID: "call_1", Name: f.Tool.Slug, Slug: f.Tool.Slug, Arguments: arguments, Digest: digest,
		}},
	})
	require.NoError(t, err)
	return turn
}

// Entry describes the call of the fixture's turn, under an effect of its own.
func (f *Fixture) Entry(t testing.TB) ledger.Entry {
	t.Helper()
	return f.EntryOf(f.Run, f.Turn, "effect-"+uuid.NewString())
}

// EntryOf describes the first call of a turn.
func (f *Fixture) EntryOf(run agent.Run, turn agent.Turn, effectID string) ledger.Entry {
	return ledger.Entry{
		EffectID: effectID, InvocationID: turn.Calls[0].InvocationID, Principal: f.Principal, RunID: run.ID, AgentID: f.Agent.ID,
		Turn: turn.Message.Turn, Position: 0, CallID: turn.Calls[0].CallID, ToolID: f.Tool.ID, Slug: f.Tool.Slug,
		Version: f.Version.Number, Digest: f.Version.Digest, Implementation: tool.HTTP, Mode: tool.Production,
		MessageID: turn.Message.ID, ArgumentsStored: true,
	}
}

// Lone describes a call of the fixture's tool outside any turn.
func (f *Fixture) Lone(t testing.TB) ledger.Entry {
	t.Helper()
	e := f.Entry(t)
	e.InvocationID, e.MessageID, e.ArgumentsStored, e.Arguments = NewID(t), "", false, json.RawMessage(`{"q":"a"}`)
	return e
}

// Admit admits a call and returns its ticket.
func (f *Fixture) Admit(t testing.TB, e ledger.Entry, repeatable, send bool) ledger.Ticket {
	t.Helper()
	ticket, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e, Repeatable: repeatable, Send: send})
	require.NoError(t, err)
	return ticket
}

// Completed returns the settlement of a call that answered.
func Completed(e ledger.Entry, fence int64) ledger.Settlement {
	return ledger.Settlement{
		Entry: e, Fence: fence, Status: tool.StatusCompleted,
		Result: tool.JSONResult(json.RawMessage(`{"z":9007199254740993,"a":"<b>"}`)),
	}
}

// NewID returns a UUID of version 7.
func NewID(t testing.TB) string {
	t.Helper()
	id, err := uuid.NewV7()
	require.NoError(t, err)
	return id.String()
}

// RequireKind fails the test unless err is a [tool.Error] of the kind.
func RequireKind(t testing.TB, want tool.Kind, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, tool.KindOf(err), "%v", err)
}
