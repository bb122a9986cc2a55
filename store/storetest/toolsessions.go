package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
	"github.com/toolcrib/toolcrib/wait"
)

// toolSessionCases are the foreign-tenant cases of tool sessions.
var toolSessionCases = map[string]func(t *testing.T, f foreign){
	"CreateToolSession": func(t *testing.T, f foreign) {
		t.Helper()
		s := f.aToolSession(t)
		s.Tenant = f.stranger
		_, err := f.Store.CreateToolSession(t.Context(), s)
		RequireKind(t, tool.Conflict, err)
	},
	"FindToolSession": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.linkedSession(t)
		_, err := f.Store.FindToolSession(t.Context(), f.stranger, s.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListToolSessions": func(t *testing.T, f foreign) {
		t.Helper()
		f.linkedSession(t)
		found, err := f.Store.ListToolSessions(t.Context(), toolsession.Query{Tenant: f.stranger})
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"EndToolSession": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.linkedSession(t)
		_, err := f.Store.EndToolSession(t.Context(), f.stranger, s.ID, toolsession.Cancelled, "user:eve")
		RequireKind(t, tool.NotFound, err)
	},
	"LinkToolSession": func(t *testing.T, f foreign) {
		t.Helper()
		s, token := f.linkedSession(t)
		_, err := f.Store.LinkToolSession(t.Context(), f.stranger, s.ID, "user:eve", make([]byte, 32), time.Hour)
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.OpenToolSession(t.Context(), f.Tenant, s.ID, token.Hash())
		require.NoError(t, err)
	},
	"UnlinkToolSession": func(t *testing.T, f foreign) {
		t.Helper()
		s, token := f.linkedSession(t)
		_, err := f.Store.UnlinkToolSession(t.Context(), f.stranger, s.ID, "user:eve")
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.OpenToolSession(t.Context(), f.Tenant, s.ID, token.Hash())
		require.NoError(t, err)
	},
	"OpenToolSession": func(t *testing.T, f foreign) {
		t.Helper()
		s, token := f.linkedSession(t)
		_, err := f.Store.OpenToolSession(t.Context(), f.stranger, s.ID, token.Hash())
		RequireKind(t, tool.NotFound, err)
	},
	"AddSubmission": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.linkedSession(t)
		_, _, err := f.Store.AddSubmission(t.Context(), aSubmission(t, f.stranger, s.ID))
		RequireKind(t, tool.NotFound, err)
	},
	"SettleSubmission": func(t *testing.T, f foreign) {
		t.Helper()
		b := f.Submitted(t)
		b.Tenant, b.Status = f.stranger, toolsession.Done
		_, err := f.Store.SettleSubmission(t.Context(), b)
		RequireKind(t, tool.NotFound, err)
	},
	"FindSubmission": func(t *testing.T, f foreign) {
		t.Helper()
		b := f.Submitted(t)
		_, err := f.Store.FindSubmission(t.Context(), f.stranger, b.SessionID, b.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListSubmissions": func(t *testing.T, f foreign) {
		t.Helper()
		b := f.Submitted(t)
		found, err := f.Store.ListSubmissions(t.Context(), toolsession.SubmissionQuery{
			Tenant: f.stranger, SessionID: b.SessionID,
		})
		require.NoError(t, err)
		require.Empty(t, found)
	},
}

// aToolSession is a session of the fixture's tool.
func (f *Fixture) aToolSession(tb testing.TB) toolsession.Session {
	tb.Helper()
	return toolsession.Session{
		ID: NewID(tb), Tenant: f.Tenant, Title: "Lunch", Entities: []string{"team-7"}, Config: json.RawMessage(`{"day":"friday"}`),
		Aggregate: "group:input.choice", Permission: "lunch.vote", CreatedBy: "user:ada",
		VersionIdentity: tool.VersionIdentity{ToolID: f.Tool.ID, Slug: f.Tool.Slug, Version: "1.0.0", Digest: "d"},
	}
}

// linkedSession makes a session with a link, good for an hour.
func (f *Fixture) linkedSession(tb testing.TB) (toolsession.Session, toolsession.Token) {
	tb.Helper()
	_, err := f.Store.SetPublishing(tb.Context(), f.Tenant, true)
	require.NoError(tb, err)
	made, err := f.Store.CreateToolSession(tb.Context(), f.aToolSession(tb))
	require.NoError(tb, err)
	token, err := toolsession.NewToken(f.Tenant, made.ID)
	require.NoError(tb, err)
	made, err = f.Store.LinkToolSession(tb.Context(), f.Tenant, made.ID, "user:ada", token.Hash(), time.Hour)
	require.NoError(tb, err)
	return made, token
}

func aSubmission(tb testing.TB, tenant tool.TenantID, session string) toolsession.Submission {
	tb.Helper()
	return toolsession.Submission{
		ID: NewID(tb), Tenant: tenant, SessionID: session, Nonce: NewID(tb), Subject: "user:ada",
		Input: json.RawMessage(`{"choice":"soup"}`),
	}
}

// Submitted makes a session of the fixture's tenant with a link, and a submission of it.
func (f *Fixture) Submitted(tb testing.TB) toolsession.Submission {
	tb.Helper()
	s, _ := f.linkedSession(tb)
	b, repeated, err := f.Store.AddSubmission(tb.Context(), aSubmission(tb, f.Tenant, s.ID))
	require.NoError(tb, err)
	require.False(tb, repeated)
	return b
}

// exec changes rows as no caller can.
func exec(tb testing.TB, d *Database, sql string, args ...any) {
	tb.Helper()
	_, err := d.Conn(tb).Exec(tb.Context(), sql, args...)
	require.NoError(tb, err)
}

func testToolSessions(t *testing.T, d *Database) {
	t.Helper()
	t.Run("Links", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		made, err := f.Store.CreateToolSession(t.Context(), f.aToolSession(t))
		require.NoError(t, err)
		require.Equal(t, toolsession.Active, made.Status)
		link := func() error {
			_, err := f.Store.LinkToolSession(t.Context(), f.Tenant, made.ID, "user:ada", make([]byte, 32), time.Hour)
			return err
		}
		RequireKind(t, tool.Denied, link()) // The tenant does not publish.
		s, token := f.linkedSession(t)
		opens := func(token toolsession.Token) error {
			_, err := f.Store.OpenToolSession(t.Context(), f.Tenant, s.ID, token.Hash())
			return err
		}
		require.NoError(t, opens(token))
		other, err := toolsession.NewToken(f.Tenant, s.ID)
		require.NoError(t, err)
		RequireKind(t, tool.NotFound, opens(other))
		_, err = f.Store.LinkToolSession(t.Context(), f.Tenant, s.ID, "user:bob", other.Hash(), time.Hour)
		require.NoError(t, err)
		RequireKind(t, tool.NotFound, opens(token)) // It was replaced.
		require.NoError(t, opens(other))
		exec(t, d, "update tool_sessions set link_until = now() where id = $1", s.ID)
		RequireKind(t, tool.NotFound, opens(other))
		found, err := f.Store.FindToolSession(t.Context(), f.Tenant, s.ID)
		require.NoError(t, err)
		require.False(t, found.Linked, "it has expired")
		for range 2 {
			found, err = f.Store.UnlinkToolSession(t.Context(), f.Tenant, s.ID, "user:bob")
			require.NoError(t, err)
			require.Nil(t, found.LinkUntil)
		}
	})
	t.Run("WhatALinkNeeds", func(t *testing.T) {
		t.Parallel()
		for _, change := range []string{
			"update tool_registry set status = 'disabled' where id = (select tool_id from tool_sessions where id = $1)",
			"update tool_registry set quarantine = 'changed' where id = (select tool_id from tool_sessions where id = $1)",
			"update tenants set status = 'suspended' where id = (select tenant_id from tool_sessions where id = $1)",
			"update tool_sessions set status = 'completed', ended_at = now() where id = $1",
		} {
			f := NewFixture(t, d)
			s, token := f.linkedSession(t)
			exec(t, d, change, s.ID)
			_, err := f.Store.OpenToolSession(t.Context(), f.Tenant, s.ID, token.Hash())
			RequireKind(t, tool.NotFound, err)
		}
	})
	t.Run("Ends", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		s, token := f.linkedSession(t)
		for range 2 {
			ended, err := f.Store.EndToolSession(t.Context(), f.Tenant, s.ID, toolsession.Completed, "user:ada")
			require.NoError(t, err)
			require.Equal(t, toolsession.Completed, ended.Status)
			require.NotNil(t, ended.EndedAt)
		}
		_, err := f.Store.EndToolSession(t.Context(), f.Tenant, s.ID, toolsession.Cancelled, "user:ada")
		RequireKind(t, tool.Conflict, err)
		_, err = f.Store.OpenToolSession(t.Context(), f.Tenant, s.ID, token.Hash())
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.LinkToolSession(t.Context(), f.Tenant, s.ID, "user:ada", token.Hash(), time.Hour)
		RequireKind(t, tool.Conflict, err)
		_, _, err = f.Store.AddSubmission(t.Context(), aSubmission(t, f.Tenant, s.ID))
		RequireKind(t, tool.Conflict, err)
		live, err := f.Store.ListToolSessions(t.Context(), toolsession.Query{Tenant: f.Tenant, Status: toolsession.Active})
		require.NoError(t, err)
		require.Empty(t, live)
	})
	t.Run("Submissions", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		b := f.Submitted(t)
		b.Nonce = "one"
		next := aSubmission(t, f.Tenant, b.SessionID)
		next.Nonce = "one"
		first, repeated, err := f.Store.AddSubmission(t.Context(), next)
		require.NoError(t, err)
		require.False(t, repeated)
		next.ID = NewID(t)
		again, repeated, err := f.Store.AddSubmission(t.Context(), next)
		require.NoError(t, err)
		require.True(t, repeated)
		require.Equal(t, first.ID, again.ID)
		b.Status, b.Output = toolsession.Done, json.RawMessage(`{"n":9007199254740993}`)
		for range 2 {
			settled, err := f.Store.SettleSubmission(t.Context(), b)
			require.NoError(t, err)
			require.Equal(t, toolsession.Done, settled.Status)
			require.JSONEq(t, `{"n":9007199254740993}`, string(settled.Output))
			b.Status = toolsession.Failed // It stays what it was first.
		}
		q := toolsession.SubmissionQuery{Tenant: f.Tenant, SessionID: b.SessionID, Limit: 1}
		page, err := f.Store.ListSubmissions(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, page, 1)
		require.Equal(t, first.ID, page[0].ID)
		q.Before = first.ID
		page, err = f.Store.ListSubmissions(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, b.ID, page[0].ID)
		found, err := f.Store.FindToolSession(t.Context(), f.Tenant, b.SessionID)
		require.NoError(t, err)
		require.Equal(t, 2, found.Submissions)
		exec(t, d, `insert into tool_session_submissions (tenant_id, id, session_id, subject, by_link, input, nonce)
			select tenant_id, gen_random_uuid(), session_id, 'x', true, '{}', 'n' || i
			from tool_session_submissions, generate_series(3, $2) i where id = $1`, b.ID, toolsession.MaxSubmissions)
		_, _, err = f.Store.AddSubmission(t.Context(), aSubmission(t, f.Tenant, b.SessionID))
		RequireKind(t, tool.Conflict, err)
	})
	t.Run("WhoMadeASessionOrItsLinkDecidesNothing", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		key := func(by string) string {
			made, _, err := f.Store.CreateKey(t.Context(), store.Key{
				Tenant: f.Tenant, Name: "test", Permissions: []string{wait.DecidePermission}, CreatedBy: by,
			})
			require.NoError(t, err)
			return "key:" + made.ID
		}
		maker, linker, earlier := key("user:ada"), key("user:bob"), key("user:cyd")
		own, other := key(linker), key("user:eve")
		_, err := f.Store.SetPublishing(t.Context(), f.Tenant, true)
		require.NoError(t, err)
		s := f.aToolSession(t)
		s.CreatedBy = maker
		s, err = f.Store.CreateToolSession(t.Context(), s)
		require.NoError(t, err)
		token, err := toolsession.NewToken(f.Tenant, s.ID)
		require.NoError(t, err)
		for _, by := range []string{earlier, linker} {
			_, err = f.Store.LinkToolSession(t.Context(), f.Tenant, s.ID, by, token.Hash(), time.Hour)
			require.NoError(t, err)
		}
		e := f.Entry(t)
		e.Principal.Subject = toolsession.Subject(s.ID)
		a := f.Ask(t, f.Request(t, e))
		n, err := f.Store.CountApprovers(t.Context(), f.Tenant, []string{wait.DecidePermission}, a.Requester)
		require.NoError(t, err)
		require.Equal(t, 1, n, "the other alone")
		for _, subject := range []string{
			a.Requester, maker, linker, earlier, own, store.UserSubject + "ada", store.UserSubject + "bob",
		} {
			_, err := f.Store.Decide(t.Context(), f.Verdict(a, subject, true))
			RequireKind(t, tool.Denied, err)
		}
		refusals, err := f.Store.MayDecide(t.Context(), f.Verdict(a, linker, true).Principal, []wait.Approval{a})
		require.NoError(t, err)
		RequireKind(t, tool.Denied, refusals[0])
		f.decide(t, a, other, true)
	})
	t.Run("SubmissionsByLink", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		s, token := f.linkedSession(t)
		submit := func(hash []byte) error {
			b := aSubmission(t, f.Tenant, s.ID)
			b.Subject, b.Guest, b.ByLink, b.Link = "session:"+s.ID, "Ana", true, hash
			_, _, err := f.Store.AddSubmission(t.Context(), b)
			return err
		}
		require.NoError(t, submit(token.Hash()))
		RequireKind(t, tool.NotFound, submit(make([]byte, 32)))
		RequireKind(t, tool.NotFound, submit(nil))
		_, err := f.Store.UnlinkToolSession(t.Context(), f.Tenant, s.ID, "user:bob")
		require.NoError(t, err)
		RequireKind(t, tool.NotFound, submit(token.Hash())) // It was opened before that, perhaps.
	})
	t.Run("SubmissionsAtOnce", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		b := f.Submitted(t)
		exec(t, d, `insert into tool_session_submissions (tenant_id, id, session_id, subject, by_link, input, nonce)
			select tenant_id, gen_random_uuid(), session_id, 'x', false, '{}', 'n' || i
			from tool_session_submissions, generate_series(3, $2) i where id = $1`, b.ID, toolsession.MaxSubmissions)
		conn, observer := d.Conn(t), d.Conn(t)
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "select from tool_sessions where id = $1 for update", b.SessionID)
		require.NoError(t, err)
		failed := make(chan error, 2)
		for range cap(failed) {
			next := aSubmission(t, f.Tenant, b.SessionID)
			go func() {
				_, _, err := f.Store.AddSubmission(t.Context(), next)
				failed <- err
			}()
		}
		require.Eventually(t, func() bool { // The second one waits for the first one, or for what that waits for.
			var waiting int
			err := observer.QueryRow(t.Context(), `with recursive behind (pid) as (
				select $1::int union select a.pid from pg_stat_activity a, behind w where w.pid = any (pg_blocking_pids(a.pid))
				) select count(*) - 1 from behind`, conn.PgConn().PID()).Scan(&waiting)
			return err == nil && waiting == cap(failed)
		}, 30*time.Second, 5*time.Millisecond)
		require.NoError(t, tx.Commit(t.Context()))
		refused := 0
		for range cap(failed) {
			if err := <-failed; err != nil {
				RequireKind(t, tool.Conflict, err)
				refused++
			}
		}
		require.Equal(t, 1, refused, "one place was left")
	})
	t.Run("Bounds", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		s, _ := f.linkedSession(t)
		exec(t, d, `insert into tool_sessions (tenant_id, id, name, tool_id, tool, version, digest)
			select tenant_id, gen_random_uuid(), name, tool_id, tool, version, digest
			from tool_sessions, generate_series(2, $2) i where id = $1`, s.ID, toolsession.MaxLive)
		_, err := f.Store.CreateToolSession(t.Context(), f.aToolSession(t))
		RequireKind(t, tool.Conflict, err)
		exec(t, d, `update tool_sessions set status = 'completed', ended_at = now() - interval '401 days',
			secret_hash = null, link_until = null where id = $1`, s.ID)
		_, err = f.Store.CreateToolSession(t.Context(), f.aToolSession(t))
		require.NoError(t, err)
		_, err = f.Store.FindToolSession(t.Context(), f.Tenant, s.ID)
		RequireKind(t, tool.NotFound, err)
	})
}
