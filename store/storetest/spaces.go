package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Ada is the person of spaces of fixtures.
var Ada = space.Member{Kind: space.Person, Name: "user:ada"}

// Space makes a space with Ada and the fixture's agent.
func (f *Fixture) Space(tb testing.TB, slug string) space.Space {
	tb.Helper()
	made, err := f.Store.CreateSpace(tb.Context(), space.Space{
		Tenant: f.Tenant, Slug: slug, Name: slug, MaxHops: 2, CreatedBy: "user:ada",
	})
	require.NoError(tb, err)
	for _, m := range []space.Member{Ada, {Kind: space.Agent, Name: f.Agent.Slug}} {
		_, err = f.Store.AddSpaceMember(tb.Context(), f.Tenant, made.ID, m, "user:ada")
		require.NoError(tb, err)
	}
	return made
}

// Entered is a run of the fixture's agent, whose tool is visible, in a space.
func (f *Fixture) Entered(tb testing.TB, sp space.Space) {
	tb.Helper()
	f.show(tb)
	_, err := f.Store.EnterSpace(tb.Context(), f.Tenant, f.Run.ID, f.Agent.ID, sp.Slug)
	require.NoError(tb, err)
}

// show makes the tool visible in the plan of the fixture's run.
func (f *Fixture) show(tb testing.TB) {
	tb.Helper()
	_, err := f.Conn(tb).Exec(tb.Context(), `update runs set plan = jsonb_set(plan::jsonb, '{tools,0,shown}', 'true')::json
		where tenant_id = $1 and id = $2`, f.Tenant, f.Run.ID)
	require.NoError(tb, err)
}

// Post posts a text of Ada.
func (f *Fixture) Post(tb testing.TB, sp space.Space, text string) space.Posted {
	tb.Helper()
	posted, err := f.Store.PostMessage(tb.Context(), space.Post{
		SpaceID: sp.ID, From: Ada, Principal: f.Principal, Text: text,
	})
	require.NoError(tb, err)
	return posted
}

func (f *Fixture) messages(tb testing.TB, sp space.Space) []space.Message {
	tb.Helper()
	all, err := f.Store.ListSpaceMessages(tb.Context(), space.MessageQuery{Tenant: f.Tenant, SpaceID: sp.ID})
	require.NoError(tb, err)
	return all
}

// message returns the only message of a space.
func (f *Fixture) message(tb testing.TB, sp space.Space) space.Message {
	tb.Helper()
	all := f.messages(tb, sp)
	require.Len(tb, all, 1)
	return all[0]
}

// woken claims the wakes of the fixture's tenant.
func (f *Fixture) woken(tb testing.TB) (keys []space.WakeKey) {
	tb.Helper()
	all, err := f.Store.ClaimWakes(tb.Context(), 1000, time.Minute)
	require.NoError(tb, err)
	for _, key := range all {
		if key.Tenant == f.Tenant {
			keys = append(keys, key)
		}
	}
	return keys
}

// wakes reads the keys of wakes, whoever claimed them.
func (f *Fixture) wakes(tb testing.TB) (keys []space.WakeKey) {
	tb.Helper()
	rows, err := f.Conn(tb).Query(tb.Context(),
		`select space_id::text, agent_id::text, subject from space_wakes where tenant_id = $1`, f.Tenant)
	require.NoError(tb, err)
	defer rows.Close()
	for rows.Next() {
		key := space.WakeKey{Tenant: f.Tenant}
		require.NoError(tb, rows.Scan(&key.SpaceID, &key.AgentID, &key.Subject))
		keys = append(keys, key)
	}
	return keys
}

// wokenRun describes the run that a wake begins.
func (f *Fixture) wokenRun(t *testing.T, w space.Wake) agent.Acceptance {
	t.Helper()
	a := f.Acceptance(t)
	a.Run = agent.Run{
		ID: w.RunID, Tenant: w.Tenant, Kind: agent.RunKindAgent, AgentID: w.AgentID, Agent: w.Agent, Mode: tool.Production,
		Principal: w.Principal, WorkflowID: a.Run.WorkflowID, Input: json.RawMessage(`"x"`),
	}
	a.Start.RunID = w.RunID
	return a
}

func renderTexts(w space.Wake) string {
	var all strings.Builder
	for _, m := range w.Messages {
		all.WriteString(m.Text + "|")
	}
	return all.String()
}

func testSpaces(t *testing.T, d *Database) {
	t.Helper()
	t.Run("are found by slug and id, and listed for members", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		made := f.Space(t, "launch")
		for _, name := range []string{made.ID, made.Slug} {
			found, err := f.Store.FindSpace(t.Context(), f.Tenant, name)
			require.NoError(t, err)
			require.Equal(t, made, found)
		}
		_, err := f.Store.CreateSpace(t.Context(), space.Space{Tenant: f.Tenant, Slug: "launch", Name: "x"})
		RequireKind(t, tool.Conflict, err)
		require.ErrorContains(t, err, `"launch"`)
		for m, want := range map[space.Member]int{Ada: 1, {Kind: space.Person, Name: "user:bob"}: 0} {
			all, err := f.Store.ListSpaces(t.Context(), space.Query{Tenant: f.Tenant, Member: &m})
			require.NoError(t, err)
			require.Len(t, all, want, m)
		}
	})
	t.Run("are listed by the slugs that are asked for", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		first := f.Space(t, "launch")
		f.Space(t, "other")
		q := space.Query{Tenant: f.Tenant, Member: &Ada, Slugs: []string{"launch", "none"}, Limit: 1}
		found, err := f.Store.ListSpaces(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, []space.Space{first}, found)
	})
	t.Run("are so many at most, and say so", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		_, err := f.Conn(t).Exec(t.Context(), `insert into spaces (tenant_id, id, slug, name, max_hops)
			select $1, gen_random_uuid(), 's' || n, 'x', 0 from generate_series(3, $2) n`, f.Tenant, space.MaxSpaces)
		require.NoError(t, err)
		made := atOnce(8, func(i int) error {
			_, err := f.Store.CreateSpace(t.Context(), space.Space{Tenant: f.Tenant, Slug: fmt.Sprintf("n%d", i), Name: "x"})
			return err
		})
		requireAllBut(t, 2, made, "which is the most")
	})
	t.Run("have so many members at most", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch") // With two.
		_, err := f.Conn(t).Exec(t.Context(), `insert into space_members (tenant_id, space_id, kind, name)
			select $1, $2, 'person', 'user:' || n from generate_series(5, $3) n`, f.Tenant, sp.ID, space.MaxMembers)
		require.NoError(t, err)
		made := atOnce(8, func(i int) error {
			_, err := f.Store.AddSpaceMember(t.Context(), f.Tenant, sp.ID,
				space.Member{Kind: space.Person, Name: fmt.Sprintf("new:%d", i)}, "x")
			return err
		})
		requireAllBut(t, 2, made, "which is the most")
		again, err := f.Store.AddSpaceMember(t.Context(), f.Tenant, sp.ID, Ada, "x")
		require.NoError(t, err, "one that is there changes nothing")
		require.Equal(t, Ada, again.Member)
	})
	t.Run("are changed by revision, and archived", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		made := f.Space(t, "launch")
		now := time.Now()
		made.Name, made.ArchivedAt = "Launch", &now
		changed, err := f.Store.ChangeSpace(t.Context(), made)
		require.NoError(t, err)
		require.Equal(t, made.Revision+1, changed.Revision)
		_, err = f.Store.ChangeSpace(t.Context(), made)
		require.ErrorIs(t, err, space.ErrChanged)
		_, err = f.Store.PostMessage(t.Context(), space.Post{SpaceID: made.ID, From: Ada, Principal: f.Principal, Text: "x"})
		RequireKind(t, tool.Conflict, err)
		_, err = f.Store.DeleteSpace(t.Context(), f.Tenant, made.ID, 1)
		require.ErrorIs(t, err, space.ErrChanged)
		_, err = f.Store.DeleteSpace(t.Context(), f.Tenant, made.ID, changed.Revision)
		require.NoError(t, err)
		_, err = f.Store.FindSpace(t.Context(), f.Tenant, made.ID)
		RequireKind(t, tool.NotFound, err)
	})
	t.Run("take texts of members only, once", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		p := space.Post{ID: NewID(t), SpaceID: sp.ID, From: Ada, Principal: f.Principal, Text: "hello"}
		first, err := f.Store.PostMessage(t.Context(), p)
		require.NoError(t, err)
		require.False(t, first.Repeated)
		require.Equal(t, 1, first.Woken)
		require.Equal(t, int64(1), first.Message.Seq)
		again, err := f.Store.PostMessage(t.Context(), p)
		require.NoError(t, err)
		require.True(t, again.Repeated)
		require.Equal(t, first.Message, again.Message)
		p.ID, p.From = "", space.Member{Kind: space.Person, Name: "user:eve"}
		_, err = f.Store.PostMessage(t.Context(), p)
		RequireKind(t, tool.Denied, err)
		require.Len(t, f.messages(t, sp), 1)
	})
	t.Run("number messages without losing one to another", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { f.Post(t, sp, "x") })
		}
		wg.Wait()
		changes, err := f.Store.ListSpaceChanges(t.Context(), f.Tenant, sp.ID, 0, 100)
		require.NoError(t, err)
		require.Len(t, changes, 8)
		for i, m := range changes {
			require.Equal(t, int64(i+1), m.ChangedSeq)
		}
		later, err := f.Store.ListSpaceChanges(t.Context(), f.Tenant, sp.ID, 6, 100)
		require.NoError(t, err)
		require.Len(t, later, 2)
	})
	testSpaceCalls(t, d)
	testSpaceWakes(t, d)
	testNotes(t, d)
}

// testSpaceCalls is about the messages of visible calls.
func testSpaceCalls(t *testing.T, d *Database) {
	t.Helper()
	t.Run("show a visible call from its admission to its end", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		e := f.Entry(t)
		ticket := f.Admit(t, e, true, true)
		m := f.message(t, sp)
		require.Equal(t, e.InvocationID, m.ID)
		require.Equal(t, space.Tool, m.Kind)
		require.Equal(t, space.Running, m.Status)
		require.Equal(t, space.Member{Kind: space.Agent, Name: "support"}, m.From)
		require.JSONEq(t, string(f.Turn.Calls[0].Arguments), string(m.Call.Input))
		_, err := f.Store.Settle(t.Context(), Completed(e, ticket.Fence))
		require.NoError(t, err)
		done := f.message(t, sp)
		require.Equal(t, space.Complete, done.Status)
		require.Greater(t, done.ChangedSeq, m.ChangedSeq)
		require.Equal(t, m.Seq, done.Seq)
		require.Contains(t, string(done.Call.Output), `"a":"<b>"`)
		require.Empty(t, f.wakes(t), "tool messages wake nobody (S1-41)")
	})
	t.Run("show nothing of calls outside of spaces, or of tools that are not visible", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.show(t)
		f.Answer(t, f.Turn)
		require.Empty(t, f.messages(t, sp))
		hidden := NewFixture(t, d)
		sp = hidden.Space(t, "launch")
		_, err := hidden.Store.EnterSpace(t.Context(), hidden.Tenant, hidden.Run.ID, hidden.Agent.ID, "launch")
		require.NoError(t, err)
		hidden.Answer(t, hidden.Turn)
		require.Empty(t, hidden.messages(t, sp))
	})
	t.Run("show nothing of a call that is known not to be visible", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		e := f.Entry(t)
		e.Hidden = true
		_, err := f.Store.Settle(t.Context(), Completed(e, f.Admit(t, e, true, true).Fence))
		require.NoError(t, err)

		turn := f.NewTurnFrom(t, f.Run, f.Turn.Message.ID, NewID(t), 2)
		e = f.EntryOf(f.Run, turn, "effect-"+turn.Calls[0].InvocationID)
		e.Hidden, e.Arguments, e.ArgumentsStored = true, turn.Calls[0].Arguments, false
		done, err := f.Store.Record(t.Context(), loop.Record{
			Tenant: f.Tenant, RunID: f.Run.ID, Begin: []ledger.AdmitRequest{{Entry: e, Repeatable: true, Send: true}},
		})
		require.NoError(t, err)
		require.NotNil(t, done.Tickets[0])
		require.Empty(t, f.messages(t, sp))
		turn = f.NewTurnFrom(t, f.Run, turn.Message.ID, NewID(t), 3)
		e = f.EntryOf(f.Run, turn, "effect-"+turn.Calls[0].InvocationID)
		f.Admit(t, e, true, true)
		require.Equal(t, e.InvocationID, f.message(t, sp).ID, "another one is shown")
	})
	t.Run("need action until an asynchronous call is answered", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		c := f.Offered(t, func(o *wait.Offer) { o.Async = true })
		entry := ledger.Entry{CallIdentity: c.CallIdentity, VersionIdentity: c.VersionIdentity}
		_, err := f.Store.Settle(t.Context(), Completed(entry, 0))
		require.NoError(t, err)
		m := f.message(t, sp)
		require.Equal(t, space.RequiresAction, m.Status, "S1-43")
		require.Empty(t, m.Call.Output)
		require.NotNil(t, m.Call.ExpiresAt)
		f.submit(t, c, `{"confirmed":true}`)
		done := f.message(t, sp)
		require.Equal(t, space.Complete, done.Status, "S1-39")
		require.Contains(t, string(done.Call.Output), `"confirmed":true`)
	})
	t.Run("need action while a call waits, and complete with its result", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		c := f.Offered(t, nil)
		require.Equal(t, space.RequiresAction, f.message(t, sp).Status)
		f.submit(t, c, `{"n":1}`)
		require.Equal(t, space.Complete, f.message(t, sp).Status)
	})
	t.Run("need action while a call waits for an approval, and fail where it is rejected", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		a := f.Ask(t, f.Request(t, f.Entry(t)))
		require.Equal(t, space.RequiresAction, f.message(t, sp).Status)
		f.decide(t, a, f.key(t, "user:bob"), false)
		e := f.Entry(t)
		e.EffectID = f.invocation(t, a.ID).EffectID
		_, err := f.Store.Settle(t.Context(), ledger.Settlement{
			Entry: e, Status: tool.StatusRejected, Kind: tool.Denied, Msg: "no",
		})
		require.NoError(t, err)
		require.Equal(t, space.Failed, f.message(t, sp).Status)
	})
	t.Run("replace a value that is too large by its size", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		e := f.Entry(t)
		large := make([]byte, space.MaxValue)
		raw, err := json.Marshal(large)
		require.NoError(t, err)
		s := Completed(e, f.Admit(t, e, true, true).Fence)
		s.Result = tool.JSONResult(raw)
		_, err = f.Store.Settle(t.Context(), s)
		require.NoError(t, err)
		require.Contains(t, string(f.message(t, sp).Call.Output), `"truncated"`)
	})
	t.Run("are left with the membership of the agent", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		place, err := f.Store.RunSpace(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, sp.ID, place.ID)
		member := space.Member{Kind: space.Agent, Name: f.Agent.Slug}
		removed, err := f.Store.RemoveSpaceMember(t.Context(), f.Tenant, sp.ID, member)
		require.NoError(t, err)
		require.Equal(t, f.Agent.ID, removed.AgentID)
		place, err = f.Store.RunSpace(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Nil(t, place)
		f.Answer(t, f.Turn)
		require.Empty(t, f.messages(t, sp))
		_, err = f.Store.EnterSpace(t.Context(), f.Tenant, f.Run.ID, f.Agent.ID, "launch")
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.RemoveSpaceMember(t.Context(), f.Tenant, sp.ID, member)
		RequireKind(t, tool.NotFound, err)
	})
	t.Run("are left by a run that says so", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		left, err := f.Store.LeaveSpace(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, sp.ID, left.ID)
		left, err = f.Store.LeaveSpace(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Nil(t, left)
		f.Answer(t, f.Turn)
		require.Empty(t, f.messages(t, sp))
	})
}

func testNotes(t *testing.T, d *Database) {
	t.Helper()
	t.Run("notes are set, changed and deleted by key", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		set := func(notes ...space.Note) error { return f.Store.SetNotes(t.Context(), f.Tenant, f.Agent.ID, notes) }
		require.NoError(t, set(space.Note{Kind: space.Goal, Key: "a", Text: "1"},
			space.Note{Kind: space.Plan, Key: "a", Text: "2"}))
		require.NoError(t, set(space.Note{Kind: space.Plan, Key: "a", Text: "3", Done: true}))
		plans, err := f.Store.ListNotes(t.Context(), f.Tenant, f.Agent.ID, space.Plan)
		require.NoError(t, err)
		require.Len(t, plans, 1)
		require.Equal(t, "3", plans[0].Text)
		require.True(t, plans[0].Done)
		gone, err := f.Store.DeleteNotes(t.Context(), f.Tenant, f.Agent.ID, space.Plan, []string{"a", "b"})
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, gone)
		all, err := f.Store.ListNotes(t.Context(), f.Tenant, f.Agent.ID, "")
		require.NoError(t, err)
		require.Len(t, all, 1)
	})
	t.Run("notes are bounded, and too many change nothing", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		notes := make([]space.Note, space.MaxNotes+1)
		for i := range notes {
			notes[i] = space.Note{Kind: space.Memory, Key: NewID(t), Text: "x"}
		}
		RequireKind(t, tool.Conflict, f.Store.SetNotes(t.Context(), f.Tenant, f.Agent.ID, notes))
		all, err := f.Store.ListNotes(t.Context(), f.Tenant, f.Agent.ID, "")
		require.NoError(t, err)
		require.Empty(t, all)
	})
}
