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

// Fixture is a tenant with a published tool, an agent, and a running run of it with one
// call of the tool.
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
func NewFixture(tb testing.TB, d *Database) *Fixture {
	tb.Helper()
	f := &Fixture{Database: d, Tenant: d.Tenant(tb)}
	f.Principal = tool.Principal{
		Tenant: f.Tenant, Subject: "user:ada", Permissions: []string{"orders.read"}, Scopes: []string{"runs:write"},
	}
	f.Tool, f.Version = f.Publish(tb, "searchOrders", tool.Policy{})
	f.Agent = f.newAgent(tb, "support")
	f.Run = f.NewRun(tb)
	f.Turn = f.NewTurn(tb, f.Run, 1)
	return f
}

// Publish makes a tool of the tenant with one published version.
func (f *Fixture) Publish(tb testing.TB, slug string, policy tool.Policy) (tool.Tool, tool.Version) {
	tb.Helper()
	definition := tool.Definition{
		Name: slug, Description: "Does " + slug, Implementation: tool.HTTP,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`),
		Config:      json.RawMessage(`{"url":"https://api.example.com/orders"}`),
	}
	created, err := f.Store.CreateTool(tb.Context(), tool.Tool{
		Tenant: f.Tenant, Slug: slug, Definition: definition, Policy: policy, Status: tool.Draft, Active: true,
		Version: "1.0.0",
	})
	require.NoError(tb, err)
	created.Status = tool.Published
	published, version, err := f.Store.AddVersion(tb.Context(), created, VersionOf(tb, created, "1.0.0"))
	require.NoError(tb, err)
	return published, version
}

// VersionOf returns a published version of a tool's head.
func VersionOf(tb testing.TB, head tool.Tool, number string) tool.Version {
	tb.Helper()
	snapshot := tool.Snapshot{Definition: head.Definition}
	digest, err := snapshot.Digest()
	require.NoError(tb, err)
	return tool.Version{
		ToolID: head.ID, Tenant: head.Tenant, Number: number, Digest: digest, Published: true, Snapshot: snapshot,
	}
}

func (f *Fixture) newAgent(tb testing.TB, slug string) agent.Agent {
	tb.Helper()
	created, err := f.Store.CreateAgent(tb.Context(), agent.Agent{
		Tenant: f.Tenant, Slug: slug, Status: tool.Draft, Version: "1.0.0",
		Definition: agent.Definition{
			Name: slug, Instructions: "Help.", Model: "scripted/" + slug, Tools: []tool.Ref{{Slug: "searchOrders"}},
		},
	})
	require.NoError(tb, err)
	return created
}

// NewRun creates a run of the agent and starts it.
func (f *Fixture) NewRun(tb testing.TB) agent.Run {
	tb.Helper()
	run, err := f.Store.BeginRun(tb.Context(), f.pendingRun(tb))
	require.NoError(tb, err)
	return run
}

// pendingRun makes a run, and returns it as it is to begin: with its plan.
func (f *Fixture) pendingRun(tb testing.TB) agent.Run {
	tb.Helper()
	run, err := f.Store.CreateRun(tb.Context(), agent.Run{
		Tenant: f.Tenant, Kind: agent.RunKindAgent, AgentID: f.Agent.ID, Agent: f.Agent.Slug, Mode: tool.Production,
		Principal: f.Principal, WorkflowID: "t/" + uuid.NewString(), Input: json.RawMessage(`{"ticket":9007199254740993}`),
	}, agent.Message{Role: agent.RoleUser, Content: []tool.Content{tool.Text("Where is my order?")}})
	require.NoError(tb, err)
	run.Plan = &agent.Plan{
		AgentID: f.Agent.ID, Agent: f.Agent.Slug, AgentVersion: "1.0.0",
		Tools: []agent.Pin{
			{
				VersionIdentity: tool.VersionIdentity{
					ToolID:         f.Tool.ID,
					Slug:           f.Tool.Slug,
					Version:        f.Version.Number,
					Digest:         f.Version.Digest,
					Implementation: tool.HTTP,
				},
			},
		},
	}
	run.FirstRunID = uuid.NewString()
	return run
}

// NewTurn stores a turn of a run after its head, with one call of the tool.
func (f *Fixture) NewTurn(tb testing.TB, run agent.Run, number int) agent.Turn {
	tb.Helper()
	stored, err := f.Store.FindRun(tb.Context(), f.Tenant, run.ID)
	require.NoError(tb, err)
	return f.NewTurnFrom(tb, run, stored.HeadMessageID, uuid.NewString(), number)
}

// NewTurnFrom is [Fixture.NewTurn] after any message of the run, under a key.
func (f *Fixture) NewTurnFrom(tb testing.TB, run agent.Run, parent, key string, number int) agent.Turn {
	tb.Helper()
	turn := f.TurnOf(tb, parent, number)
	turn.RunID, turn.Key = run.ID, key
	stored, err := f.Store.SaveTurn(tb.Context(), turn)
	require.NoError(tb, err)
	return stored
}

// TurnOf returns a turn of the fixture's run after a message, with one call of the tool,
// that is not stored.
func (f *Fixture) TurnOf(tb testing.TB, parent string, number int) agent.Turn {
	tb.Helper()
	arguments := json.RawMessage(`{"q":"a-17","n":9007199254740993}`)
	digest, err := tool.Digest(arguments)
	require.NoError(tb, err)
	return agent.Turn{
		Tenant: f.Tenant, RunID: f.Run.ID, Key: uuid.NewString(),
		Message: agent.Message{
			ID: NewID(tb), ParentID: parent, Turn: number, Role: agent.RoleAssistant,
			Content: []tool.Content{tool.Text("Let me look.")},
			Calls:   []agent.Call{{ID: "call_1", Name: f.Tool.Slug, Arguments: arguments}},
			Usage:   &agent.Usage{InputTokens: 11, OutputTokens: 7},
		},
		Calls: []agent.PreparedCall{
			{
				CallIdentity:    tool.CallIdentity{InvocationID: NewID(tb), CallID: "call_1"},
				Name:            f.Tool.Slug,
				Slug:            f.Tool.Slug,
				Arguments:       arguments,
				ArgumentsDigest: digest,
			},
		},
	}
}

// Answer settles the call of a turn.
func (f *Fixture) Answer(tb testing.TB, turn agent.Turn) {
	tb.Helper()
	_, err := f.Store.Settle(tb.Context(), Completed(f.EntryOf(f.Run, turn, "effect-"+uuid.NewString()), 0))
	require.NoError(tb, err)
}

// Entry describes the call of the fixture's turn, with a new effect id.
func (f *Fixture) Entry(tb testing.TB) ledger.Entry {
	tb.Helper()
	return f.EntryOf(f.Run, f.Turn, "effect-"+uuid.NewString())
}

// EntryOf describes the first call of a turn.
func (f *Fixture) EntryOf(run agent.Run, turn agent.Turn, effectID string) ledger.Entry {
	return ledger.Entry{
		CallIdentity: tool.CallIdentity{
			EffectID:     effectID,
			InvocationID: turn.Calls[0].InvocationID,
			Principal:    f.Principal,
			RunID:        run.ID,
			AgentID:      f.Agent.ID,
			Turn:         turn.Message.Turn,
			Position:     0,
			CallID:       turn.Calls[0].CallID,
			Mode:         tool.Production,
			MessageID:    turn.Message.ID,
		}, VersionIdentity: tool.VersionIdentity{
			ToolID:         f.Tool.ID,
			Slug:           f.Tool.Slug,
			Version:        f.Version.Number,
			Digest:         f.Version.Digest,
			Implementation: tool.HTTP,
		}, ArgumentsStored: true,
	}
}

// nested starts a run that a call of another makes.
func (f *Fixture) nested(tb testing.TB, above agent.Run) agent.Run {
	tb.Helper()
	call := NewID(tb)
	_, err := f.Conn(tb).Exec(tb.Context(), `insert into tool_invocations (id, tenant_id, run_id, call_id, tool, mode, status)
		values ($1, $2, $3, 'c', 'ask', 'production', 'running')`, call, f.Tenant, above.ID)
	require.NoError(tb, err)
	run := f.Run
	run.ID, run.WorkflowID, run.Plan = NewID(tb), "t/"+uuid.NewString(), nil
	run.Parent, run.Depth = &agent.Parent{RunID: above.ID, InvocationID: call}, above.Depth+1
	below, err := f.Store.CreateRun(tb.Context(), run, agent.Message{})
	require.NoError(tb, err)
	return below
}

// Lone describes a call of the fixture's tool outside any turn.
func (f *Fixture) Lone(tb testing.TB) ledger.Entry {
	tb.Helper()
	e := f.Entry(tb)
	e.InvocationID, e.MessageID, e.ArgumentsStored, e.Arguments = NewID(tb), "", false, json.RawMessage(`{"q":"a"}`)
	return e
}

// Admit admits a call and returns its ticket.
func (f *Fixture) Admit(tb testing.TB, e ledger.Entry, repeatable, send bool) ledger.Ticket {
	tb.Helper()
	ticket, err := f.Store.Admit(tb.Context(), ledger.AdmitRequest{Entry: e, Repeatable: repeatable, Send: send})
	require.NoError(tb, err)
	return ticket
}

// Completed returns the settlement of a successful call.
func Completed(e ledger.Entry, fence int64) ledger.Settlement {
	return ledger.Settlement{
		Entry: e, Fence: fence, Status: tool.StatusCompleted,
		Result: tool.JSONResult(json.RawMessage(`{"z":9007199254740993,"a":"<b>"}`)),
	}
}

// NewID returns a UUID of version 7.
func NewID(tb testing.TB) string {
	tb.Helper()
	id, err := uuid.NewV7()
	require.NoError(tb, err)
	return id.String()
}

// RequireKind fails the test unless err is a [tool.Error] of the kind.
func RequireKind(tb testing.TB, want tool.Kind, err error) {
	tb.Helper()
	require.Error(tb, err)
	require.Equal(tb, want, tool.KindOf(err), "%v", err)
}
