package storetest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

const (
	interleavings = 20 // Of each kind.
	interleaved   = 60 // Steps of one.
	interleavers  = 6  // Goroutines.
)

// testInterleavings lets attempts, people, executors and timers do what they may, in random
// orders: one by one beside a model, and at the same time. It is alone in its database: it
// ends what is overdue, whoever's it is.
func testInterleavings(t *testing.T, d *Database) {
	t.Helper()
	s, err := store.Open(t.Context(), d.URL, store.Options{
		SetRole: store.AppRole, MaxConns: interleavers, Logger: slog.New(slog.DiscardHandler),
		Timeouts: store.Timeouts{Operation: time.Minute, Lock: time.Minute}, // A busy machine proves nothing.
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	patient := *d
	patient.Store = s
	conn := d.Conn(t)
	for n := range interleavings {
		for _, alone := range []bool{true, false} {
			seed := rand.Uint64()
			t.Run(fmt.Sprintf("%d/alone=%t", n, alone), func(t *testing.T) {
				w := newInterleaving(t, &patient, conn, alone, seed)
				t.Cleanup(func() {
					if t.Failed() {
						t.Logf("seed %d:\n%s", seed, strings.Join(w.trace, "\n"))
					}
				})
				w.play(seed)
				w.finish()
			})
		}
	}
}

// interleaving is a run with calls of several kinds that things happen to.
type interleaving struct {
	*testing.T
	f       *Fixture
	conn    *pgx.Conn
	alone   bool // One thing at a time: the model says what each of them answers.
	calls   []*interleavedCall
	results atomic.Int64

	mu    sync.Mutex
	over  bool // The run.
	trace []string
}

// interleavedCall is a call and what its drivers, in whatever order, got to know of it.
type interleavedCall struct {
	name    string
	e       ledger.Entry
	needs   bool // An approval: the policy of its tool says so, or its caller does.
	outside bool // It is answered from outside.
	async   bool // The caller does not wait for that.
	again   bool // An attempt may be repeated after it was sent.
	model   callModel

	mu       sync.Mutex
	target   wait.Target
	seen     string // A binding.
	tickets  []*interleavedTicket
	approved map[string]bool // Bindings.
	sent     []string        // The bindings under which it was sent or offered.
	outcomes []ledger.Outcome
	answers  map[int]bool // The results that were the first, and whether they were late.
	started  int
}

type interleavedTicket struct {
	ledger.Ticket
	held bool // The driver knows that it is not approved.
	used bool // It was sent, or offered.
}

func newInterleaving(t *testing.T, d *Database, conn *pgx.Conn, alone bool, seed uint64) *interleaving {
	t.Helper()
	w := &interleaving{T: t, f: NewFixture(t, d), conn: conn, alone: alone}
	random := rand.New(rand.NewPCG(seed, 1))
	for _, kind := range []string{"inside", "outside", "async"} {
		held := random.IntN(3) > 0
		w.f.Tool, w.f.Version = w.f.Publish(t, kind, tool.Policy{RequiresApproval: held})
		c := &interleavedCall{
			name: kind, e: w.f.Lone(t), needs: held || random.IntN(2) == 0, outside: kind != "inside", async: kind == "async",
			again: random.IntN(2) == 0, approved: map[string]bool{}, answers: map[int]bool{},
			target: wait.Target{Content: digestA, Host: "api.example.com"},
			model:  callModel{held: held, needed: 1 + random.IntN(3)/2},
		}
		if c.outside {
			c.e.Implementation = tool.Client
		}
		w.calls = append(w.calls, c)
	}
	return w
}

// play takes all steps, one by one or in several goroutines.
func (w *interleaving) play(seed uint64) {
	if w.alone {
		random := rand.New(rand.NewPCG(seed, 2))
		for range interleaved {
			w.step(random)
			if w.Failed() {
				w.FailNow()
			}
		}
		return
	}
	var group sync.WaitGroup
	for n := range interleavers {
		random := rand.New(rand.NewPCG(seed, 2+uint64(n)))
		group.Go(func() {
			for range interleaved / interleavers * 2 {
				w.step(random)
			}
		})
	}
	group.Wait()
}

func (w *interleaving) step(random *rand.Rand) {
	c := w.calls[random.IntN(len(w.calls))]
	c.mu.Lock()
	asked, sent := c.seen != "", len(c.sent) > 0
	if random.IntN(20) == 0 { // What the call would do is changed.
		c.target.Content = []string{digestA, digestB}[random.IntN(2)]
	}
	c.mu.Unlock()
	rarely := random.IntN(10) == 0
	switch n := random.IntN(200); {
	case n < 30:
		w.ask(c, random)
	case n < 70 && (asked || rarely):
		w.decide(c, random)
	case n < 120:
		w.admit(c, random)
	case n < 160:
		w.send(c, random)
	case n < 180 && (sent || rarely):
		w.submit(c, random)
	case n < 188:
		w.complete(c, random)
	case n < 191:
		w.settle(c, random)
	case n < 199:
		w.expire(c, random)
	case n == 199:
		w.endRun()
	}
}

// said notes a step, and checks the kind of its error.
func (w *interleaving) said(c *interleavedCall, what string, want tool.Kind, err error) bool {
	got := tool.Kind("")
	if err != nil {
		got = tool.KindOf(err)
	}
	w.mu.Lock()
	w.trace = append(w.trace, fmt.Sprintf("%s: %s: %s", c.name, what, got))
	w.mu.Unlock()
	switch {
	case w.alone && got != want:
		w.Errorf("%s: %s: got %q, want %q: %v", c.name, what, got, want, err)
	case got != "" && got != tool.Conflict && got != tool.NotFound && got != tool.Unknown:
		w.Errorf("%s: %s: %v", c.name, what, err)
	}
	return err == nil
}

func (w *interleaving) bind(target wait.Target, arguments json.RawMessage) string {
	digest, err := tool.Digest(arguments)
	if err != nil {
		w.Error(err)
	}
	return target.Bind(digest)
}

func (w *interleaving) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

func (w *interleaving) endRun() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	err := w.f.Store.FinishRun(w.Context(), agent.RunEnd{
		Tenant: w.f.Tenant, RunID: w.f.Run.ID, Status: agent.RunCancelled, Execution: w.f.Run.FirstRunID,
	})
	for _, c := range w.calls {
		if w.alone {
			c.model.endRun()
		}
		w.said(c, "the run ends", "", err)
	}
}

func (w *interleaving) ask(c *interleavedCall, random *rand.Rand) {
	if !c.needs || w.ended() {
		return
	}
	c.mu.Lock()
	arguments := c.e.Arguments
	if n := len(c.tickets); n > 0 && random.IntN(2) == 0 {
		arguments = c.tickets[n-1].Arguments
	}
	r := wait.Request{
		Entry: c.e, WorkflowID: "w", Target: c.target, Binding: w.bind(c.target, arguments), Message: "May it?",
		Needed: c.model.needed, Expires: time.Hour,
	}
	c.mu.Unlock()
	want := tool.Kind("")
	if w.alone {
		want = c.model.ask(r.Binding)
	}
	a, err := w.f.Store.Ask(w.Context(), r)
	if !w.said(c, "ask", want, err) {
		return
	}
	c.mu.Lock()
	c.seen = a.Binding
	c.mu.Unlock()
	if w.alone {
		w.requireRequest(c, a)
	}
}

func (w *interleaving) requireRequest(c *interleavedCall, a wait.Approval) {
	m := &c.model
	require.Equal(w, m.request, a.Status)
	require.Equal(w, m.binding, a.Binding)
	require.Equal(w, m.round, a.Round)
	require.Len(w, a.Decisions, len(m.made))
}

func (w *interleaving) decide(c *interleavedCall, random *rand.Rand) {
	c.mu.Lock()
	v := wait.Verdict{
		Principal: tool.Principal{
			Tenant: w.f.Tenant, Subject: fmt.Sprintf("user:%d", random.IntN(3)), Permissions: []string{wait.DecidePermission},
		},
		ID: c.e.InvocationID, Approve: random.IntN(5) > 0, Seen: []string{"", c.seen}[random.IntN(2)],
	}
	if v.Approve && random.IntN(4) == 0 {
		v.Edited = fmt.Appendf(nil, `{"q":"edited %d"}`, random.IntN(2))
		v.EditedDigest, v.Binding = digestOf(w, v.Edited), w.bind(c.target, v.Edited)
	}
	c.mu.Unlock()
	want := tool.Kind("")
	if w.alone {
		want = c.model.decide(v.Principal.Subject, modelDecision{v.Approve, v.EditedDigest}, v.Binding, v.Seen)
	}
	a, err := w.f.Store.Decide(w.Context(), v)
	if !w.said(c, fmt.Sprintf("decide %t edited %t", v.Approve, v.Edited != nil), want, err) {
		return
	}
	if a.Status == wait.Approved {
		c.mu.Lock()
		c.approved[a.Binding] = true
		c.mu.Unlock()
	}
	if w.alone {
		w.requireRequest(c, a)
	}
}

func (w *interleaving) expire(c *interleavedCall, random *rand.Rand) {
	if random.IntN(2) == 0 {
		w.mu.Lock()
		_, err := w.conn.Exec(w.Context(),
			"update approvals set expires_at = now() - interval '1 s' where id = $1 and status = 'pending'", c.e.InvocationID)
		w.mu.Unlock()
		if w.alone && c.model.request == wait.Pending {
			c.model.overdue = true
		}
		w.said(c, "its time is over", "", err)
		if random.IntN(2) == 0 { // Somebody comes before the timer does.
			w.decide(c, random)
			return
		}
	}
	want, as := tool.Kind(""), []wait.Status{wait.Expired, wait.Cancelled, wait.Pending}[random.IntN(3)]
	if as == wait.Pending { // The timer of last resort.
		for _, each := range w.calls {
			if w.alone {
				each.model.end(wait.Expired)
			}
		}
		_, err := w.f.Store.ExpireOverdue(w.Context(), 1000, 0)
		w.said(c, "expire all", "", err)
		return
	}
	if w.alone {
		want = c.model.end(as)
	}
	a, err := w.f.Store.End(w.Context(), w.f.Tenant, c.e.InvocationID, as)
	if w.said(c, "end as "+string(as), want, err) && w.alone {
		w.requireRequest(c, a)
	}
}

func (w *interleaving) admit(c *interleavedCall, random *rand.Rand) {
	send := c.again && !c.needs && !c.outside && random.IntN(2) == 0
	want := tool.Kind("")
	if w.alone {
		want = c.model.admit(c.again, send)
	}
	ticket, err := w.f.Store.Admit(w.Context(), ledger.AdmitRequest{Entry: c.e, Repeatable: c.again, Send: send})
	if !w.said(c, "admit", want, err) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ticket.Done != nil {
		c.outcomes = append(c.outcomes, *ticket.Done)
		return
	}
	held := c.needs && ticket.Approved != w.bind(c.target, ticket.Arguments)
	if !c.model.held || ticket.Approved != "" {
		c.started++
	}
	c.tickets = append(c.tickets, &interleavedTicket{Ticket: ticket, held: held, used: send})
	if !w.alone {
		return
	}
	require.Equal(w, c.model.fence, ticket.Fence)
	require.Equal(w, c.model.approved(), ticket.Approved != "")
	if ticket.Approved != "" {
		require.Equal(w, c.model.binding, ticket.Approved)
	}
}

// send marks the call as sent, or offers it: where its driver sees that it is approved, and
// where the store has to see that it is not.
func (w *interleaving) send(c *interleavedCall, random *rand.Rand) {
	c.mu.Lock()
	if len(c.tickets) == 0 {
		c.mu.Unlock()
		return
	}
	ticket := c.tickets[max(len(c.tickets)-1-random.IntN(3)/2, 0)]
	c.mu.Unlock()
	if ticket.held && (random.IntN(3) > 0 || !c.model.held || ticket.Approved != "") || c.outside && w.ended() {
		return
	}
	what, want := "send", tool.Kind("")
	var err error
	if c.outside {
		what = "offer"
		if w.alone {
			want = c.model.offer(ticket.Fence, c.async)
		}
		o := w.f.Offer(c.e, ticket.Fence)
		o.Async = c.async
		_, err = w.f.Store.OfferCall(w.Context(), o)
	} else {
		if w.alone {
			want = c.model.markSent(ticket.Fence)
		}
		err = w.f.Store.MarkSent(w.Context(), w.f.Tenant, c.e.EffectID, ticket.Fence)
	}
	if !w.said(c, what, want, err) {
		return
	}
	if ticket.held {
		w.Errorf("%s: a call that is held is sent", c.name)
	}
	c.mu.Lock()
	ticket.used = true
	c.sent = append(c.sent, ticket.Approved)
	c.mu.Unlock()
}

// submit submits a result of its own.
func (w *interleaving) submit(c *interleavedCall, _ *rand.Rand) {
	n, want, first := int(w.results.Add(1)), tool.Kind(""), false
	if w.alone {
		first, want = c.model.submit(n)
	}
	got, won, err := w.f.Store.SubmitResult(w.Context(), wait.Submission{
		Tenant: w.f.Tenant, ID: c.e.InvocationID, Subject: "key:executor",
		Result: tool.JSONResult(fmt.Appendf(nil, `{"n":%d}`, n)),
	})
	if !w.said(c, "submit", want, err) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if won {
		c.answers[n] = got.Late
	}
	if w.alone {
		require.Equal(w, first, won)
		require.Equal(w, c.model.answer, numberOf(w, got.Result), "the first result is returned")
		require.Equal(w, c.model.late, got.Late)
	}
}

func numberOf(tb testing.TB, r *tool.Result) int {
	tb.Helper()
	var body struct{ N int }
	require.NotNil(tb, r)
	require.NoError(tb, json.Unmarshal(r.Structured, &body))
	return body.N
}

// complete settles a call with its result, in the attempt that sent it or offered it to
// somebody it does not wait for.
func (w *interleaving) complete(c *interleavedCall, random *rand.Rand) {
	c.mu.Lock()
	var fence int64
	for _, ticket := range c.tickets {
		if ticket.used && (fence == 0 || random.IntN(2) == 0) {
			fence = ticket.Fence
		}
	}
	c.mu.Unlock()
	if fence == 0 || c.outside && !c.async {
		return
	}
	s := Completed(c.e, fence)
	s.Result = tool.JSONResult(json.RawMessage(`{"n":0}`))
	w.close(c, s)
}

// settle ends a call otherwise: its run is cancelled, its time is over, it failed, or a person
// rejected it.
func (w *interleaving) settle(c *interleavedCall, random *rand.Rand) {
	status := []tool.InvocationStatus{
		tool.StatusCancelled, tool.StatusExpired, tool.StatusFailed, tool.StatusRejected,
	}[random.IntN(4)]
	w.close(c, ledger.Settlement{Entry: c.e, Status: status, Kind: tool.Cancelled, Msg: "x", UnknownIfSent: true})
}

func (w *interleaving) close(c *interleavedCall, s ledger.Settlement) {
	first, want := false, tool.Kind("")
	if w.alone {
		first, want = c.model.settle(s.Fence, s.Status, s.Result == nil)
	}
	outcome, err := w.f.Store.Settle(w.Context(), s)
	if !w.said(c, "settle as "+string(s.Status), want, err) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outcomes = append(c.outcomes, outcome)
	if w.alone {
		require.Equal(w, first, outcome.Won)
		require.Equal(w, c.model.status, outcome.Status)
	}
}
