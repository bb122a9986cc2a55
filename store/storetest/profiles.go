package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

// profileCases are the foreign-tenant cases of profiles and assignments.
var profileCases = map[string]func(t *testing.T, f foreign){
	"CreateProfile": func(t *testing.T, f foreign) {
		t.Helper()
		mine := f.profile(t, tool.Profile{Name: "same"})
		theirs, err := f.Store.CreateProfile(t.Context(), profile.Profile{
			Tenant: f.stranger, Profile: tool.Profile{Name: "same"},
		})
		require.NoError(t, err, "names are the tenant's")
		require.NotEqual(t, mine.ID, theirs.ID)
	},
	"ChangeProfile": func(t *testing.T, f foreign) {
		t.Helper()
		p := f.profile(t, tool.Profile{})
		p.Tenant, p.Denied = f.stranger, true
		_, err := f.Store.ChangeProfile(t.Context(), p)
		RequireKind(t, tool.NotFound, err)
	},
	"FindProfile": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindProfile(t.Context(), f.stranger, f.profile(t, tool.Profile{}).Name)
		RequireKind(t, tool.NotFound, err)
	},
	"ListProfiles": func(t *testing.T, f foreign) {
		t.Helper()
		f.profile(t, tool.Profile{})
		listed, err := f.Store.ListProfiles(t.Context(), f.stranger, "", "", 100)
		require.NoError(t, err)
		require.Empty(t, listed)
	},
	"DeleteProfile": func(t *testing.T, f foreign) {
		t.Helper()
		p := f.profile(t, tool.Profile{})
		_, err := f.Store.DeleteProfile(t.Context(), f.stranger, p.Name, 0)
		RequireKind(t, tool.NotFound, err)
	},
	"SetAssignment": func(t *testing.T, f foreign) {
		t.Helper()
		p := f.profile(t, tool.Profile{})
		theirs, err := f.Store.CreateProfile(t.Context(), profile.Profile{
			Tenant: f.stranger, Profile: tool.Profile{Name: "theirs"},
		})
		require.NoError(t, err)
		for _, a := range []profile.Assignment{
			{ToolID: f.Tool.ID, ProfileID: theirs.ID}, {ToolID: NewID(t), ProfileID: p.ID}, {ToolID: f.Tool.ID, AgentID: f.Agent.ID},
		} {
			a.Tenant = f.stranger
			_, err := f.Store.SetAssignment(t.Context(), a)
			RequireKind(t, tool.NotFound, err)
		}
		_, err = f.Store.SetAssignment(t.Context(), profile.Assignment{
			Tenant: f.Tenant, ToolID: f.Tool.ID, ProfileID: theirs.ID,
		})
		RequireKind(t, tool.NotFound, err)
	},
	"FindAssignment": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindAssignment(t.Context(), f.stranger, f.assign(t, f.Agent.ID, nil).ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListAssignments": func(t *testing.T, f foreign) {
		t.Helper()
		f.assign(t, f.Agent.ID, nil)
		listed, err := f.Store.ListAssignments(t.Context(), f.stranger, profile.Filter{}, profile.Assignment{}, 100)
		require.NoError(t, err)
		require.Empty(t, listed)
	},
	"DeleteAssignment": func(t *testing.T, f foreign) {
		t.Helper()
		a := f.assign(t, f.Agent.ID, nil)
		_, err := f.Store.DeleteAssignment(t.Context(), f.stranger, a.ID)
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.FindAssignment(t.Context(), f.Tenant, a.ID)
		require.NoError(t, err)
	},
	"ProfileUses": func(t *testing.T, f foreign) {
		t.Helper()
		f.assign(t, "", new(f.profile(t, tool.Profile{Denied: true})))
		uses, err := f.Store.ProfileUses(t.Context(), f.stranger, f.Tool.ID, "")
		require.NoError(t, err)
		require.Empty(t, uses)
	},
}

// profile makes a profile of the fixture's tenant.
func (f *Fixture) profile(tb testing.TB, p tool.Profile) profile.Profile {
	tb.Helper()
	if p.Name == "" {
		p.Name = "p" + uuid.NewString()
	}
	made, err := f.Store.CreateProfile(tb.Context(), profile.Profile{Profile: p, Tenant: f.Tenant, ChangedBy: "user:ada"})
	require.NoError(tb, err)
	return made
}

// assign assigns the fixture's tool, to an agent or to every caller, within a profile or none.
func (f *Fixture) assign(tb testing.TB, agentID string, p *profile.Profile) profile.Assignment {
	tb.Helper()
	a := profile.Assignment{Tenant: f.Tenant, ToolID: f.Tool.ID, AgentID: agentID, ChangedBy: "user:ada"}
	if p != nil {
		a.ProfileID = p.ID
	}
	set, err := f.Store.SetAssignment(tb.Context(), a)
	require.NoError(tb, err)
	return set
}

// rated makes a profile with a rate.
func (f *Fixture) rated(tb testing.TB, calls int, per tool.RatePeriod, burst int) *profile.Profile {
	tb.Helper()
	p := f.profile(tb, tool.Profile{Rate: &tool.Rate{Calls: calls, Per: per, Burst: burst}})
	return &p
}

// begin admits calls of a turn as they are begun in place, and returns how many were.
func (f *Fixture) begin(tb testing.TB, calls ...ledger.Entry) []*ledger.Ticket {
	tb.Helper()
	r := loop.Record{Tenant: f.Tenant, RunID: f.Run.ID}
	for _, e := range calls {
		r.Begin = append(r.Begin, ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true})
	}
	done, err := f.Store.Record(tb.Context(), r)
	require.NoError(tb, err)
	return done.Tickets
}

// testProfiles tests what profiles and assignments do to admission.
func testProfiles(t *testing.T, d *Database) {
	t.Helper()

	t.Run("AreMadeChangedAndDeleted", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		made := f.profile(t, tool.Profile{
			Name: "careful", RequiresApproval: true, PermissionPolicy: tool.PermissionAlwaysAsk, EgressClass: tool.EgressWrite,
			RequiredPermission: "x", Rate: &tool.Rate{Calls: 10, Per: tool.PerMinute}, MaxConcurrency: 2,
		})
		require.Equal(t, int64(1), made.Revision)
		require.Equal(t, &tool.Rate{Calls: 10, Per: tool.PerMinute, Burst: 10}, made.Rate, "the burst is that of the rate")
		_, err := f.Store.CreateProfile(t.Context(), made)
		RequireKind(t, tool.Conflict, err)
		found, err := f.Store.FindProfile(t.Context(), f.Tenant, "careful")
		require.NoError(t, err)
		require.Equal(t, made, found)

		changed, err := f.Store.ChangeProfile(t.Context(), profile.Profile{
			Tenant: f.Tenant, Profile: tool.Profile{Name: "careful", Denied: true}, Revision: 1, Description: "not now",
		})
		require.NoError(t, err)
		require.Equal(t, tool.Profile{ID: made.ID, Name: "careful", Denied: true}, changed.Profile)
		require.Equal(t, int64(2), changed.Revision)
		changed.Revision = 1
		_, err = f.Store.ChangeProfile(t.Context(), changed)
		require.ErrorIs(t, err, profile.ErrChanged)
		_, err = f.Store.DeleteProfile(t.Context(), f.Tenant, "careful", 1)
		require.ErrorIs(t, err, profile.ErrChanged)
		_, err = f.Store.ChangeProfile(t.Context(), profile.Profile{Tenant: f.Tenant, Profile: tool.Profile{Name: "none"}})
		RequireKind(t, tool.NotFound, err)

		a := f.assign(t, "", &changed)
		require.Equal(t, []string{f.Tool.Slug, "", "careful"}, []string{a.Tool, a.Agent, a.Profile})
		mine := f.assign(t, f.Agent.ID, nil)
		require.Equal(t, mine.ID, f.assign(t, f.Agent.ID, &changed).ID, "it replaces what the agent had")
		_, err = f.Store.DeleteProfile(t.Context(), f.Tenant, "careful", 0)
		RequireKind(t, tool.Conflict, err)
		require.Contains(t, tool.AsError(err).Msg, "in use (assignments: 2)")
		listed, err := f.Store.ListProfiles(t.Context(), f.Tenant, f.Agent.ID, "", 10)
		require.NoError(t, err)
		require.Len(t, listed, 1)
		require.Equal(t, 2, listed[0].Assignments)
		all, err := f.Store.ListAssignments(t.Context(), f.Tenant, profile.Filter{ToolID: f.Tool.ID}, profile.Assignment{}, 1)
		require.NoError(t, err)
		require.Equal(t, a.ID, all[0].ID, "that of every caller comes first")
		all, err = f.Store.ListAssignments(t.Context(), f.Tenant, profile.Filter{ProfileID: made.ID}, all[0], 10)
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, "support", all[0].Agent)

		for _, id := range []string{a.ID, mine.ID} {
			_, err = f.Store.DeleteAssignment(t.Context(), f.Tenant, id)
			require.NoError(t, err)
		}
		b := f.budget(t, budget.Budget{ProfileID: made.ID, Limit: 1})
		require.Equal(t, "careful", b.Profile)
		_, err = f.Store.DeleteProfile(t.Context(), f.Tenant, "careful", 0)
		require.NoError(t, err)
		budgets, err := f.Store.ListBudgets(t.Context(), f.Tenant, budget.Key{}, 10)
		require.NoError(t, err)
		require.Empty(t, budgets, "its budgets go with it")
	})

	t.Run("OnlyRaise", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for path, p := range map[string]tool.Profile{
			"/name":                {Name: "Upper"},
			"/permission_policy":   {PermissionPolicy: tool.PermissionAuto},
			"/egress_class":        {EgressClass: tool.EgressNone},
			"/max_concurrency":     {MaxConcurrency: -1},
			"/rate/calls":          {Rate: &tool.Rate{Calls: 0, Per: tool.PerSecond}},
			"/rate/per":            {Rate: &tool.Rate{Calls: 1, Per: "week"}},
			"/rate/burst":          {Rate: &tool.Rate{Calls: 1, Per: tool.PerDay, Burst: -1}},
			"/required_permission": {RequiredPermission: string(make([]byte, 201))},
		} {
			if p.Name == "" {
				p.Name = "p"
			}
			_, err := f.Store.CreateProfile(t.Context(), profile.Profile{Tenant: f.Tenant, Profile: p})
			RequireKind(t, tool.Invalid, err)
			require.Equal(t, path, tool.AsError(err).Path)
		}
		_, err := f.Store.SetAssignment(t.Context(), profile.Assignment{Tenant: f.Tenant, ToolID: f.Tool.ID})
		RequireKind(t, tool.Invalid, err)
	})

	t.Run("ApplyAtTheNextAdmission", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		all := f.profile(t, tool.Profile{Name: "all"})
		mine := f.profile(t, tool.Profile{Name: "mine", RequiredPermission: "orders.read"})
		f.assign(t, "", &all)
		f.assign(t, f.Agent.ID, &mine)
		names := func(e ledger.Entry) (out []string) {
			for _, use := range f.Admit(t, e, true, true).Policy.Profiles {
				out = append(out, use.Name)
			}
			return out
		}
		require.Equal(t, []string{"all", "mine"}, names(f.Lone(t)))
		other := f.Lone(t)
		other.AgentID = ""
		require.Equal(t, []string{"all"}, names(other), "callers that are no agents")
		require.Len(t, f.begin(t, f.Lone(t))[0].Policy.Profiles, 2, "what is begun in place has them too")
		open, err := f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, f.Turn.Message.ID, "next")
		require.NoError(t, err)
		require.Len(t, open.Policies[f.Tool.ID].Profiles, 2)
		policies, err := f.Store.Policies(t.Context(), f.Tenant, []string{f.Tool.ID})
		require.NoError(t, err)
		require.Len(t, policies[f.Tool.ID].Profiles, 1)

		mine.RequiresApproval = true
		_, err = f.Store.ChangeProfile(t.Context(), mine)
		require.NoError(t, err)
		held := f.Lone(t)
		require.Nil(t, f.begin(t, held)[0], "a call that needs an approval is not begun in place")
		f.Admit(t, held, true, true)
		require.Equal(t, tool.StatusPending, f.invocation(t, held.InvocationID).Status, "it is held")
		f.decide(t, f.Ask(t, f.Request(t, held)), "user:bob", true)
		mine.Denied, mine.Revision = true, 0
		_, err = f.Store.ChangeProfile(t.Context(), mine)
		require.NoError(t, err)
		require.True(t, f.Admit(t, held, true, true).Policy.Profiles[1].Denied, "what is decided after the approval")
	})

	t.Run("AnAssignedToolIsDeniedOnceItIsRevoked", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		a := f.assign(t, f.Agent.ID, nil)
		found, _, err := f.Store.FindAgentVersions(t.Context(), f.Tenant, f.Agent.ID)
		require.NoError(t, err)
		require.Equal(t, []string{f.Tool.ID}, found.Assigned)
		run := f.pendingRun(t)
		run.Plan.Tools[0].Assigned = true
		run, err = f.Store.BeginRun(t.Context(), run)
		require.NoError(t, err)
		f.Run = run
		turn := f.NewTurn(t, run, 1)
		req := ledger.AdmitRequest{Entry: f.Lone(t), Repeatable: true, Send: true, Assigned: true}
		_, err = f.Store.Admit(t.Context(), req)
		require.NoError(t, err)
		open := func() map[string]tool.Policy {
			opened, err := f.Store.OpenTurn(t.Context(), f.Tenant, run.ID, turn.Message.ID, uuid.NewString())
			require.NoError(t, err)
			return opened.Policies
		}
		require.Len(t, open(), 1)
		_, err = f.Store.DeleteAssignment(t.Context(), f.Tenant, a.ID)
		require.NoError(t, err)
		req.Entry = f.Lone(t)
		done, err := f.Store.Record(t.Context(), loop.Record{
			Tenant: f.Tenant, RunID: run.ID, Begin: []ledger.AdmitRequest{req},
		})
		require.NoError(t, err)
		require.Nil(t, done.Tickets[0])
		_, err = f.Store.Admit(t.Context(), req)
		RequireKind(t, tool.Denied, err)
		require.Contains(t, tool.AsError(err).Msg, "no longer assigned")
		require.Empty(t, open(), "models are not offered it")
		req.Assigned = false
		_, err = f.Store.Admit(t.Context(), req)
		require.NoError(t, err, "a tool of the definition is not affected")
	})

	t.Run("ARateLetsThroughItsBurst", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.assign(t, f.Agent.ID, f.rated(t, 1, tool.PerHour, 5))
		var admitted atomic.Int64
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				if i%2 == 0 { // As a turn's calls are begun in place.
					for _, ticket := range f.begin(t, f.Lone(t), f.Lone(t)) {
						if ticket != nil {
							admitted.Add(1)
						}
					}
					return
				}
				_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: f.Lone(t), Repeatable: true})
				if err == nil {
					admitted.Add(1)
				} else if tool.KindOf(err) != tool.RateLimited {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Equal(t, int64(5), admitted.Load())
		e := f.Lone(t)
		_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e})
		RequireKind(t, tool.RateLimited, err)
		require.InDelta(t, time.Hour, tool.AsError(err).RetryAfter, float64(time.Minute))
		require.Contains(t, tool.AsError(err).Msg, "allows 1 call an hour; the next may begin in")
		require.False(t, tool.AsError(err).Sent)
		records, err := f.Store.Records(t.Context(), f.Tenant, []string{e.EffectID})
		require.NoError(t, err)
		require.Empty(t, records, "nothing was written")
		other := f.Lone(t)
		other.AgentID = ""
		f.Admit(t, other, true, true)

		_, err = f.Store.SweepRateBuckets(t.Context())
		require.NoError(t, err)
		_, err = f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e})
		RequireKind(t, tool.RateLimited, err) // A bucket that is not full stays.
	})

	t.Run("ACallerWithoutAPermissionTakesNoToken", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		p := f.profile(t, tool.Profile{
			RequiredPermission: "x", Rate: &tool.Rate{Calls: 1, Per: tool.PerDay, Burst: 1},
		})
		f.assign(t, "", &p)
		for range 3 {
			e := f.Lone(t)
			require.Nil(t, f.begin(t, e)[0], "it is left to the admission of its own")
			require.Equal(t, "x", f.Admit(t, e, true, true).Policy.Profiles[0].RequiredPermission)
		}
		may := f.Lone(t)
		may.Principal.Permissions = []string{"x"}
		require.NotNil(t, f.begin(t, may)[0], "the token is still there")
		next := f.Lone(t)
		next.Principal.Permissions = []string{"*"}
		_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: next})
		RequireKind(t, tool.RateLimited, err)
	})

	t.Run("ARateIsTakenOnceForACall", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.assign(t, "", f.rated(t, 2, tool.PerDay, 2))
		e := f.Lone(t)
		for range 4 { // Attempts.
			f.Admit(t, e, true, true)
		}
		f.Admit(t, f.Lone(t), true, true)
		_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: f.Lone(t)})
		RequireKind(t, tool.RateLimited, err)
	})

	t.Run("ACallThatIsHeldAfterItsAdmissionKeepsItsToken", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		f.assign(t, "", f.rated(t, 1, tool.PerHour, 1))
		e := f.Entry(t)
		f.decide(t, f.Ask(t, f.Request(t, e)), "user:bob", true)
		f.Admit(t, e, true, false)
		again := f.Request(t, e)
		again.Target.Host = "elsewhere.example.com"
		again.Binding = bind(t, again.Target, f.Turn.Calls[0].Arguments)
		f.decide(t, f.Ask(t, again), "user:bob", true)
		f.Admit(t, e, true, false)
	})

	t.Run("AHigherRateIsInEffectAtOnce", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		p := f.rated(t, 2, tool.PerDay, 2)
		f.assign(t, "", p)
		for range 2 {
			f.Admit(t, f.Lone(t), true, true)
		}
		_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: f.Lone(t)})
		RequireKind(t, tool.RateLimited, err)
		faster := *p
		faster.Rate = &tool.Rate{Calls: 600, Per: tool.PerMinute, Burst: 600}
		_, err = f.Store.ChangeProfile(t.Context(), faster)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: f.Lone(t)})
			return err == nil
		}, 10*time.Second, 50*time.Millisecond)
	})

	t.Run("TheStrictestOfTwoRatesDecides", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 5})
		b := f.budget(t, budget.Budget{Limit: 1000})
		f.assign(t, "", f.rated(t, 5, tool.PerHour, 5))
		f.assign(t, f.Agent.ID, f.rated(t, 1, tool.PerDay, 1))
		_, err := f.try(t, f.Run, completing)
		require.NoError(t, err)
		for range 20 { // What is refused takes nothing of the other, nor of budgets.
			_, err = f.try(t, f.Run, nil)
			RequireKind(t, tool.RateLimited, err)
		}
		require.Equal(t, []usage.Micros{5, 0}, f.spent(t, b))
		for range 4 {
			e := f.Lone(t)
			e.AgentID = ""
			f.Admit(t, e, true, true)
		}
	})

	t.Run("ABudgetOfAProfileCountsItsCalls", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 5})
		p := f.profile(t, tool.Profile{Name: "careful"})
		b := f.budget(t, budget.Budget{ProfileID: p.ID, Limit: 5})
		_, err := f.try(t, f.Run, completing)
		require.NoError(t, err)
		require.Equal(t, []usage.Micros{0, 0}, f.spent(t, b), "the profile does not apply yet")
		f.assign(t, f.Agent.ID, &p)
		_, err = f.try(t, f.Run, completing)
		require.NoError(t, err)
		require.Equal(t, []usage.Micros{5, 0}, f.spent(t, b))
		_, err = f.try(t, f.Run, completing)
		RequireKind(t, tool.Denied, err)
		require.Contains(t, tool.AsError(err).Msg, `of profile "careful"`)
		_, err = f.try(t, agent.Run{}, completing)
		require.NoError(t, err, "calls without the agent")
	})

	t.Run("AFullBucketIsSwept", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.assign(t, "", f.rated(t, 1000, tool.PerSecond, 10))
		f.Admit(t, f.Lone(t), true, true)
		conn := d.Conn(t)
		count := func() (n int) {
			const held = "select count(*) from rate_buckets where tenant_id = $1"
			if err := conn.QueryRow(t.Context(), held, string(f.Tenant)).Scan(&n); err != nil {
				return -1
			}
			return n
		}
		require.Equal(t, 1, count())
		require.Eventually(t, func() bool {
			_, err := f.Store.SweepRateBuckets(t.Context())
			return err == nil && count() == 0
		}, 10*time.Second, 10*time.Millisecond)
	})
}
