package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
)

// apart is a journal that leaves everything.
type apart struct{}

func (apart) Begin(context.Context, agent.Run, string) (run agent.Run, open *agent.OpenTurn, err error) {
	return run, open, nil
}

func (apart) Record(_ context.Context, r loop.Record) (loop.Recorded, error) {
	return loop.Recorded{Tickets: make([]*ledger.Ticket, len(r.Begin))}, nil
}

// testRecords compares what a journal writes at once with what the ports write that do
// one thing each.
func testRecords(t *testing.T, d *Database) {
	t.Helper()
	whole, parts := newScribe(t, d, d.Store), newScribe(t, d, apart{})
	for _, s := range []*scribe{whole, parts} {
		s.play(t)
	}
	require.Equal(t, parts.rows(t), whole.rows(t))
	require.Equal(t, parts.said, whole.said)
	require.Zero(t, whole.left, "the common case is done at once")
	require.Positive(t, parts.left)
}

// testRecordsBegin compares the run and the turn that a journal begins with those of the
// ports.
func testRecordsBegin(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	run := f.pendingRun(t)
	_, err := f.Store.RequestCancel(t.Context(), f.Tenant, run.ID, "execution")
	require.NoError(t, err)
	begun, open, err := f.Store.Begin(t.Context(), run, "run/1")
	require.NoError(t, err)
	require.NotNil(t, open)
	require.Equal(t, "execution", begun.CancelExecution)
	want, err := f.Store.BeginRun(t.Context(), run)
	require.NoError(t, err)
	require.Equal(t, want, begun)
	read, err := f.Store.OpenTurn(t.Context(), f.Tenant, run.ID, run.HeadMessageID, "run/1")
	require.NoError(t, err)
	require.Equal(t, read, *open)
}

// testRecordsAfterTheEnd compares them for a run that was cancelled before its last turn
// was recorded: the turn is written, and what the run's workflow says of its end.
func testRecordsAfterTheEnd(t *testing.T, d *Database) {
	t.Helper()
	whole, parts := newScribe(t, d, d.Store), newScribe(t, d, apart{})
	for _, s := range []*scribe{whole, parts} {
		s.open(t, loop.Record{})
		require.NoError(t, s.Store.FinishRun(t.Context(), agent.RunEnd{
			Tenant: s.Tenant, RunID: s.Run.ID, Status: agent.RunCancelled, Execution: "before",
		}))
		s.turn(t)
	}
	require.Equal(t, parts.rows(t), whole.rows(t))
	require.Equal(t, 1, whole.left, "the end alone")
}

// scribe drives a run through a journal, and does what it leaves.
type scribe struct {
	*Fixture
	journal loop.Journal
	head    string
	number  int
	left    int      // Parts that the journal left.
	said    []string // What the model was asked, turn by turn.
}

func newScribe(tb testing.TB, d *Database, j loop.Journal) *scribe {
	tb.Helper()
	s := &scribe{Fixture: NewFixture(tb, d), journal: j}
	s.Run = s.NewRun(tb)
	s.head = s.Run.HeadMessageID
	return s
}

// play asks for three turns: of two calls, of one that fails, and the last one.
func (s *scribe) play(t *testing.T) {
	t.Helper()
	s.open(t, loop.Record{})
	calls := s.turn(t, `{"n": 9007199254740993}`, `{"q":"\u0000"}`)
	s.record(t, loop.Record{Ended: []ledger.Settlement{Completed(calls[1].Entry, 1)}})
	s.open(t, loop.Record{Ended: []ledger.Settlement{{
		Entry: calls[0].Entry, Fence: 1, Status: tool.StatusCompleted,
		Result: &tool.Result{IsError: true, Content: []tool.Content{tool.Text("no <b>\x00")}},
	}}})
	calls = s.turn(t, `{"q":"b"}`)
	calls[0].Taints = true
	asked, err := s.Store.RequestCancel(t.Context(), s.Tenant, s.Run.ID, "execution")
	require.NoError(t, err)
	require.True(t, asked)
	s.open(t, loop.Record{Ended: []ledger.Settlement{{
		Entry: calls[0].Entry, Fence: 1, Status: tool.StatusFailed, Kind: tool.Timeout, Msg: "too late", Unsent: true,
	}}})
	s.turn(t)
}

// record writes r by the journal, and what it leaves by the other ports.
func (s *scribe) record(tb testing.TB, r loop.Record) (tickets []ledger.Ticket, open agent.OpenTurn) {
	tb.Helper()
	r.Tenant, r.RunID = s.Tenant, s.Run.ID
	done, err := s.journal.Record(tb.Context(), r)
	require.NoError(tb, err)
	for _, e := range r.Ended[done.Ended:] {
		outcome, err := s.Store.Settle(tb.Context(), e)
		require.NoError(tb, err)
		require.True(tb, outcome.Won)
		s.left++
	}
	if r.Turn != nil && !done.Turn {
		_, err := s.Store.SaveTurn(tb.Context(), *r.Turn)
		require.NoError(tb, err)
		s.left++
	}
	if r.End != nil && !done.End {
		require.NoError(tb, s.Store.FinishRun(tb.Context(), *r.End))
		s.left++
	}
	for i, req := range r.Begin {
		ticket := done.Tickets[i]
		if ticket == nil {
			admitted, err := s.Store.Admit(tb.Context(), req)
			require.NoError(tb, err)
			ticket = &admitted
			s.left++
		}
		tickets = append(tickets, *ticket)
	}
	if r.Ask == nil {
		return tickets, open
	}
	read, err := s.Store.OpenTurn(tb.Context(), s.Tenant, s.Run.ID, r.Ask.Head, r.Ask.Key)
	require.NoError(tb, err)
	if done.Open == nil {
		s.left++
		return tickets, read
	}
	require.Equal(tb, read.Policies, done.Open.Policies)
	require.Equal(tb, read.Run.Plan, done.Open.Run.Plan)
	require.Equal(tb, read.Run.CancelExecution, done.Open.Run.CancelExecution)
	require.Equal(tb, read.Followed, done.Open.Followed)
	require.Equal(tb, read.Taint, done.Open.Taint)
	require.Len(tb, done.Open.Transcript, len(read.Transcript))
	for i, m := range read.Transcript {
		kept := done.Open.Transcript[i]
		require.WithinDuration(tb, m.CreatedAt, kept.CreatedAt, 0)
		m.CreatedAt, kept.CreatedAt = kept.CreatedAt, m.CreatedAt.UTC()
		kept.CreatedAt = m.CreatedAt
		require.Equal(tb, m, kept)
	}
	return tickets, *done.Open
}

// open records r and opens the next turn.
func (s *scribe) open(tb testing.TB, r loop.Record) {
	tb.Helper()
	r.Ask = &loop.Question{Head: s.head, Key: fmt.Sprintf("run/%d", s.number+1)}
	if s.number == 0 { // Nothing is in memory yet.
		_, err := s.Store.OpenTurn(tb.Context(), s.Tenant, s.Run.ID, s.head, r.Ask.Key)
		require.NoError(tb, err)
		return
	}
	_, open := s.record(tb, r)
	raw, err := json.Marshal(open.Transcript)
	require.NoError(tb, err)
	s.said = append(s.said, normal(string(raw)))
}

// turn records a turn with a call for each of arguments, and begins the calls.
func (s *scribe) turn(tb testing.TB, arguments ...string) []ledger.AdmitRequest {
	tb.Helper()
	s.number++
	turn := agent.Turn{
		Tenant: s.Tenant, RunID: s.Run.ID, Key: fmt.Sprintf("run/%d", s.number),
		Message: agent.Message{
			ID: NewID(tb), ParentID: s.head, Turn: s.number, Role: agent.RoleAssistant,
			Content: []tool.Content{tool.Text("Turn "), tool.JSON(json.RawMessage(`{"a":1}`)), tool.Text("<done>")}, Usage: &agent.Usage{InputTokens: s.number, OutputTokens: 2},
		},
	}
	for i, raw := range arguments {
		digest, err := tool.Digest(json.RawMessage(raw))
		require.NoError(tb, err)
		id := fmt.Sprintf("call_%d", i)
		asked := agent.Call{ID: id, Name: s.Tool.Slug, Arguments: json.RawMessage(raw)}
		turn.Message.Calls = append(turn.Message.Calls, asked)
		turn.Calls = append(turn.Calls, agent.PreparedCall{
			CallIdentity: tool.CallIdentity{InvocationID: NewID(tb), CallID: id}, Name: s.Tool.Slug, Slug: s.Tool.Slug,
			Arguments: json.RawMessage(raw), ArgumentsDigest: digest, Receipt: json.RawMessage(`[{"rule":"x"}]`),
		})
	}
	s.head = turn.Message.ID
	begin := make([]ledger.AdmitRequest, len(turn.Calls))
	for i, call := range turn.Calls {
		e := s.EntryOf(s.Run, turn, fmt.Sprintf("effect-%d-%d", s.number, i))
		e.InvocationID, e.Position, e.CallID, e.Receipt = call.InvocationID, i, call.CallID, call.Receipt
		e.Arguments, e.ArgumentsStored = call.Arguments, false
		begin[i] = ledger.AdmitRequest{Entry: e, Repeatable: true, Send: i == 0}
	}
	r := loop.Record{Turn: &turn, Begin: begin}
	if len(arguments) == 0 {
		r.End = &agent.RunEnd{
			Tenant: s.Tenant, RunID: s.Run.ID, Status: agent.RunCompleted, HeadMessageID: turn.Message.ID, Turns: s.number,
			Calls: 3, Execution: "execution",
		}
	}
	tickets, _ := s.record(tb, r)
	for i, ticket := range tickets {
		require.Equal(tb, begin[i].InvocationID, ticket.InvocationID)
		require.Equal(tb, int64(1), ticket.Fence)
		require.Equal(tb, 1, ticket.Attempt)
		require.Equal(tb, s.Tool.Policy, ticket.Policy)
		require.Equal(tb, begin[i].Arguments, ticket.Arguments)
	}
	return begin
}

// written are the tables that a record writes, and the columns that differ between runs.
var written = []struct{ table, where, drop, order string }{
	{"runs", "id = $2", "created_at,started_at,completed_at,cancel_requested_at,workflow_id,first_run_id", "id"},
	{"messages", "run_id = $2", "created_at", "turn, role, position"},
	{"effects", "$2::uuid is not null", "created_at,done_at", "effect_id"},
	{"tool_invocations", "run_id = $2", "created_at,started_at,completed_at", "turn, position"},
	{"run_events", "run_id = $2", "id,xid,at", "seq"},
}

// rows returns what is recorded of the run, with ids by their first occurrence.
func (s *scribe) rows(tb testing.TB) []string {
	tb.Helper()
	var out []string
	for _, w := range written {
		rows, err := s.Conn(tb).Query(tb.Context(), fmt.Sprintf(
			"select (to_jsonb(x) - string_to_array('%s', ','))::text from ("+
				"select * from %s where tenant_id = $1 and %s order by %s) x",
			w.drop, w.table, w.where, w.order), s.Tenant, s.Run.ID)
		require.NoError(tb, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(tb, err)
		for _, line := range lines {
			out = append(out, w.table+" "+line)
		}
	}
	return strings.Split(normal(strings.Join(out, "\n")), "\n")
}

var (
	anyID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime = regexp.MustCompile(`"created_at":"[^"]*"|"at": ?"[^"]*"|"ms": ?\d+`)
)

// normal replaces ids by the order of their first occurrence, and drops times.
func normal(text string) string {
	seen := map[string]string{uuid.Nil.String(): "nil"}
	return anyID.ReplaceAllStringFunc(anyTime.ReplaceAllString(text, `"time"`), func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("id-%d", len(seen))
		}
		return seen[id]
	})
}
