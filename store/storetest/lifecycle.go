package storetest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// lifecycleCases are the foreign-tenant cases of users of tools, canaries, gates and replays.
var lifecycleCases = map[string]func(t *testing.T, f foreign){
	"ListUsers": func(t *testing.T, f foreign) {
		t.Helper()
		f.toolset(t, "support")
		for _, kind := range registry.UserKinds() {
			found, err := f.Store.ListUsers(t.Context(), f.stranger, registry.UserQuery{
				Kind: kind, ToolID: f.Tool.ID, Names: []string{f.Tool.Slug},
			})
			require.NoError(t, err)
			require.Empty(t, found, kind)
		}
	},
	"RunsPinning": func(t *testing.T, f foreign) {
		t.Helper()
		found, err := f.Store.RunsPinning(t.Context(), f.stranger, f.Tool.ID, 10)
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"NamesOf": func(t *testing.T, f foreign) {
		t.Helper()
		theirs := f.Tool
		theirs.Tenant = f.stranger
		found, err := f.Store.NamesOf(t.Context(), theirs)
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"FindGate": func(t *testing.T, f foreign) {
		t.Helper()
		f.gate(t)
		_, err := f.Store.FindGate(t.Context(), f.stranger, f.Tool.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"SetGate": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.SetGate(t.Context(), registry.Gate{Tenant: f.stranger, ToolID: f.Tool.ID, Replay: 1})
		RequireKind(t, tool.NotFound, err)
	},
	"DeleteGate": func(t *testing.T, f foreign) {
		t.Helper()
		f.gate(t)
		RequireKind(t, tool.NotFound, f.Store.DeleteGate(t.Context(), f.stranger, f.Tool.ID))
	},
	"ReplayableCalls": func(t *testing.T, f foreign) {
		t.Helper()
		e := f.Lone(t)
		_, err := f.Store.Settle(t.Context(), Completed(e, f.Admit(t, e, true, true).Fence))
		require.NoError(t, err)
		found, err := f.Store.ReplayableCalls(t.Context(), f.stranger, f.Tool.ID, 10)
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"CreateReplay": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.CreateReplay(t.Context(), registry.Replay{
			Tenant: f.stranger, ToolID: f.Tool.ID, Version: "1.0.0", Digest: f.Version.Digest, Asked: 1,
			Calls: json.RawMessage("[]"),
		})
		require.Error(t, err)
	},
	"EndReplay": func(t *testing.T, f foreign) {
		t.Helper()
		r := f.Replay(t, false)
		theirs := r
		theirs.Tenant, theirs.Ended = f.stranger, true
		require.NoError(t, f.Store.EndReplay(t.Context(), theirs))
		found, err := f.Store.FindReplay(t.Context(), f.Tenant, f.Tool.ID, r.ID)
		require.NoError(t, err)
		require.False(t, found.Ended)
	},
	"FindReplay": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindReplay(t.Context(), f.stranger, f.Tool.ID, f.Replay(t, true).ID)
		RequireKind(t, tool.NotFound, err)
	},
	"LastReplay": func(t *testing.T, f foreign) {
		t.Helper()
		r := f.Replay(t, true)
		_, err := f.Store.LastReplay(t.Context(), f.stranger, f.Tool.ID, r.Digest)
		RequireKind(t, tool.NotFound, err)
	},
	"ListReplays": func(t *testing.T, f foreign) {
		t.Helper()
		f.Replay(t, true)
		found, err := f.Store.ListReplays(t.Context(), f.stranger, f.Tool.ID, "", 10)
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"StartCanary": func(t *testing.T, f foreign) {
		t.Helper()
		theirs := f.Tool
		theirs.Tenant = f.stranger
		_, err := f.Store.StartCanary(t.Context(), theirs, VersionOf(t, theirs, "2.0.0"), f.planned())
		require.Error(t, err)
	},
	"EndCanary": func(t *testing.T, f foreign) {
		t.Helper()
		f.Canary(t, "2.0.0")
		theirs := f.Tool
		theirs.Tenant = f.stranger
		_, err := f.Store.EndCanary(t.Context(), theirs, registry.CanaryStopped, "user:eve", "")
		RequireKind(t, tool.NotFound, err)
	},
	"ListCanaries": func(t *testing.T, f foreign) {
		t.Helper()
		f.Canary(t, "2.0.0")
		found, err := f.Store.ListCanaries(t.Context(), f.stranger, "", "", 10)
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"JudgeCanariesOf": func(t *testing.T, f foreign) {
		t.Helper()
		f.Canary(t, "2.0.0")
		n, err := f.Store.JudgeCanariesOf(t.Context(), f.stranger, 0)
		require.NoError(t, err)
		require.Zero(t, n)
	},
}

// planned is a canary of half the runs.
func (f *Fixture) planned() registry.Canary {
	return registry.Canary{
		Tenant: f.Tenant, ToolID: f.Tool.ID, StartedBy: "user:ada",
		Plan: registry.CanaryPlan{Share: 50, Until: 4, MinCalls: 2, MaxErrorPercent: 25},
	}
}

// Canary starts a canary of the fixture's tool.
func (f *Fixture) Canary(tb testing.TB, number string) registry.Canary {
	tb.Helper()
	head, err := f.Store.FindTool(tb.Context(), f.Tenant, tool.Ref{ID: f.Tool.ID})
	require.NoError(tb, err)
	c, err := f.Store.StartCanary(tb.Context(), head, VersionOf(tb, head, number), f.planned())
	require.NoError(tb, err)
	return c
}

func (f *Fixture) gate(tb testing.TB) {
	tb.Helper()
	_, err := f.Store.SetGate(tb.Context(), registry.Gate{Tenant: f.Tenant, ToolID: f.Tool.ID, Replay: 20})
	require.NoError(tb, err)
}

// Replay stores a replay of the fixture's tool.
func (f *Fixture) Replay(tb testing.TB, ended bool) registry.Replay {
	tb.Helper()
	r, err := f.Store.CreateReplay(tb.Context(), registry.Replay{
		Tenant: f.Tenant, ToolID: f.Tool.ID, Version: "1.0.0", Digest: f.Version.Digest, Asked: 20, Same: 3, Ended: ended,
		Calls: json.RawMessage("[]"), StartedBy: "user:ada",
	})
	require.NoError(tb, err)
	return r
}

func testUsers(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	list := func(kind registry.UserKind) []registry.User {
		t.Helper()
		found, err := f.Store.ListUsers(t.Context(), f.Tenant, registry.UserQuery{
			Kind: kind, ToolID: f.Tool.ID, Names: []string{f.Tool.Slug},
		})
		require.NoError(t, err)
		return found
	}
	drafts := list(registry.UserAgent)
	require.Len(t, drafts, 1, "the draft of the fixture's agent")
	require.False(t, drafts[0].Published)

	v := AgentVersionOf(t, f.Agent, "1.0.0")
	v.Published = true
	published, _, err := f.Store.AddAgentVersion(t.Context(), f.Agent, v)
	require.NoError(t, err)
	found := list(registry.UserAgent)
	require.Len(t, found, 1, "a draft that is published is one user")
	require.True(t, found[0].Published)
	require.Equal(t, "1.0.0", found[0].Version)
	require.Equal(t, []tool.Ref{{Slug: f.Tool.Slug}}, found[0].Tools)
	published.Definition.OnUnavailableTool = agent.RefuseRun
	_, err = f.Store.UpdateAgent(t.Context(), published)
	require.NoError(t, err)
	found = list(registry.UserAgent)
	require.Len(t, found, 2)
	require.False(t, found[1].Published)
	require.True(t, found[1].Refuses)

	f.Schedule(t, "nightly", func(n *schedule.Schedule) { n.Agent = f.Agent.Slug })
	schedules := list(registry.UserSchedule)
	require.Len(t, schedules, 1)
	require.Equal(t, []string{"nightly", f.Agent.Slug}, []string{schedules[0].Name, schedules[0].Through})

	f.toolset(t, "support")
	toolsets := list(registry.UserToolset)
	require.Len(t, toolsets, 1)
	require.Equal(t, "^1", toolsets[0].Constraint)

	p, err := f.Store.CreateProfile(t.Context(), profile.Profile{Tenant: f.Tenant, Profile: tool.Profile{Name: "careful"}})
	require.NoError(t, err)
	_, err = f.Store.SetAssignment(t.Context(), profile.Assignment{
		Tenant: f.Tenant, ToolID: f.Tool.ID, ProfileID: p.ID,
	})
	require.NoError(t, err)
	_, err = f.Store.SetAssignment(t.Context(), profile.Assignment{
		Tenant: f.Tenant, ToolID: f.Tool.ID, AgentID: f.Agent.ID,
	})
	require.NoError(t, err)
	require.Equal(t, "careful", list(registry.UserProfile)[0].Name)
	require.Equal(t, f.Agent.Slug, list(registry.UserAssignment)[0].Name)
	require.Len(t, list(registry.UserAssignment), 1)

	other, _ := f.Publish(t, "lookTwice", tool.Policy{})
	require.Empty(t, list(registry.UserTool))
	other.Definition.Config = json.RawMessage(`{"steps":[{"id":"first","tool":"searchOrders@^1"}]}`)
	_, err = f.Store.UpdateTool(t.Context(), other)
	require.NoError(t, err)
	tools := list(registry.UserTool)
	require.Len(t, tools, 2, "what is published, and the draft")
	require.Equal(t, "1.0.0", tools[0].Version)
	require.JSONEq(t, string(other.Definition.Config), string(tools[1].Definition.Config))

	running, err := f.Store.RunsPinning(t.Context(), f.Tenant, f.Tool.ID, 10)
	require.NoError(t, err)
	require.Equal(t, []string{f.Run.ID}, running)
}

func testGates(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	_, err := f.Store.FindGate(t.Context(), f.Tenant, f.Tool.ID)
	RequireKind(t, tool.NotFound, err)
	_, err = f.Store.SetGate(t.Context(), registry.Gate{Tenant: f.Tenant, Replay: 10, MaxDifferent: 2})
	require.NoError(t, err)
	f.gate(t)
	own, err := f.Store.FindGate(t.Context(), f.Tenant, f.Tool.ID)
	require.NoError(t, err)
	require.Equal(t, []int{20, 0}, []int{own.Replay, own.MaxDifferent})
	require.NoError(t, f.Store.DeleteGate(t.Context(), f.Tenant, f.Tool.ID))
	left, err := f.Store.FindGate(t.Context(), f.Tenant, f.Tool.ID)
	require.NoError(t, err)
	require.Empty(t, left.ToolID, "that of the tenant")
	_, err = f.Store.SetGate(t.Context(), registry.Gate{Tenant: f.Tenant, Replay: 51})
	RequireKind(t, tool.Invalid, err)

	r := f.Replay(t, false)
	r.Ended, r.Different = true, 1
	require.NoError(t, f.Store.EndReplay(t.Context(), r))
	r.Different = 0
	require.NoError(t, f.Store.EndReplay(t.Context(), r))
	last, err := f.Store.LastReplay(t.Context(), f.Tenant, f.Tool.ID, f.Version.Digest)
	require.NoError(t, err)
	require.Equal(t, 1, last.Different, "one that has ended stays as it is")
}

func testCanaries(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	f.Webhook(t, func(w *webhook.Webhook) { w.Types = []tool.EventType{webhook.EventCanaryReturned} })
	resolve := resolver.New(f.Store, resolver.Options{})
	got := func(run, constraint string) string {
		t.Helper()
		r, err := resolve.Resolve(t.Context(), resolver.Request{
			Principal: f.Principal, Ref: tool.Ref{Slug: f.Tool.Slug, Constraint: constraint}, Run: run,
		})
		require.NoError(t, err)
		return r.Version.Number
	}
	both := func() map[string]int {
		t.Helper()
		out := map[string]int{}
		for range 40 {
			run := NewID(t)
			first := got(run, "")
			out[first]++
			require.Equal(t, first, got(run, ""), "a run gets the same at each time")
		}
		return out
	}
	head, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: f.Tool.ID})
	require.NoError(t, err)
	_, err = f.Store.StartCanary(t.Context(), head, VersionOf(t, head, "1.0.0"), f.planned())
	RequireKind(t, tool.Conflict, err)
	head.Description = "Changed."
	head, err = f.Store.UpdateTool(t.Context(), head)
	require.NoError(t, err)

	c := f.Canary(t, "1.1.0")
	require.Equal(t, registry.CanaryRunning, c.State)
	shares := both()
	require.Positive(t, shares["1.0.0"])
	require.Positive(t, shares["1.1.0"])
	require.Equal(t, "1.0.0", got("", ""), "no run, no canary")
	require.Equal(t, "1.1.0", got("", "1.1.0"), "unless it is asked for")
	versions, err := f.Store.ListVersions(t.Context(), f.Tenant, f.Tool.ID)
	require.NoError(t, err)
	require.Equal(t, []int{50, 0}, []int{versions[0].Withheld, versions[1].Withheld})

	judge := func() registry.Canary {
		t.Helper()
		n, err := f.Store.JudgeCanariesOf(t.Context(), f.Tenant, 0)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		all, err := f.Store.ListCanaries(t.Context(), f.Tenant, f.Tool.ID, "", 10)
		require.NoError(t, err)
		return all[0]
	}
	call := func(v tool.Version, ok bool) {
		t.Helper()
		e := f.Lone(t)
		e.Version, e.Digest = v.Number, v.Digest
		ticket := f.Admit(t, e, true, true)
		end := Completed(e, ticket.Fence)
		if !ok {
			end.Status, end.Kind, end.Msg, end.Result = tool.StatusFailed, tool.Unavailable, "down", nil
		}
		_, err := f.Store.Settle(t.Context(), end)
		require.NoError(t, err)
	}
	call(f.Version, true)
	call(versions[0], true)
	require.Equal(t, registry.CanaryRunning, judge().State)
	call(versions[0], false)
	c = judge()
	require.Equal(t, registry.CanaryReturned, c.State)
	require.Equal(t, registry.CanaryOutcome{Calls: 2, Failures: 1, StableCalls: 1}, c.Outcome)
	require.NotNil(t, c.EndedAt)
	require.Contains(t, c.Reason, "1 of 2 calls failed")
	require.Equal(t, map[string]int{"1.0.0": 40}, both())
	rows := func(of string) (n int) {
		t.Helper()
		sql := "select count(*) from " + of + " and tenant_id = $1"
		require.NoError(t, d.Conn(t).QueryRow(t.Context(), sql, f.Tenant).Scan(&n))
		return n
	}
	require.Equal(t, 1, rows("webhook_deliveries where type = 'tool.canary_returned'"))
	require.Positive(t, rows("audit_log where action = 'canary.changed'"))

	c = f.Canary(t, "1.1.0") // Once more.
	require.Equal(t, registry.CanaryRunning, c.State)
	require.Zero(t, c.Outcome.Calls)
	c, err = f.Store.EndCanary(t.Context(), head, registry.CanaryPromoted, "user:ada", "")
	require.NoError(t, err)
	require.Equal(t, registry.CanaryPromoted, c.State)
	require.Equal(t, map[string]int{"1.1.0": 40}, both())
	_, err = f.Store.EndCanary(t.Context(), head, registry.CanaryStopped, "user:ada", "")
	RequireKind(t, tool.NotFound, err)
}
