package activities

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// page is a ledger in memory, and a journal that is in use if journals is set.
type page struct {
	ledger.Ledger
	loop.Journal

	journals bool
	lose     bool // The answers of the journal are lost.

	mu      sync.Mutex
	log     []string
	effects map[string]*ledger.Outcome // Nil while in progress.
	fences  map[string]int64
}

func (p *page) note(what string) { p.log = append(p.log, what) }

func (p *page) admit(req ledger.AdmitRequest) ledger.Ticket {
	if done := p.effects[req.EffectID]; done != nil {
		return ledger.Ticket{InvocationID: req.InvocationID, Done: done}
	}
	p.fences[req.EffectID]++
	p.effects[req.EffectID] = nil
	return ledger.Ticket{
		InvocationID: req.InvocationID, Fence: p.fences[req.EffectID], Attempt: int(p.fences[req.EffectID]),
		Arguments: req.Arguments,
		Policy:    tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
	}
}

func (p *page) settle(s ledger.Settlement) ledger.Outcome {
	if done := p.effects[s.EffectID]; done != nil {
		return *done
	}
	out := ledger.Outcome{InvocationID: s.InvocationID, Status: s.Status, Result: s.Result, Kind: s.Kind, Msg: s.Msg}
	p.effects[s.EffectID] = &out
	out.Won = true
	return out
}

func (p *page) Admit(_ context.Context, req ledger.AdmitRequest) (ledger.Ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note("admit " + req.CallID)
	return p.admit(req), nil
}

func (p *page) MarkSent(_ context.Context, _ tool.TenantID, effectID string, _ int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note("sent " + effectID)
	return nil
}

func (p *page) Settle(_ context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note("settle " + s.CallID)
	return p.settle(s), nil
}

func (p *page) Record(_ context.Context, r loop.Record) (loop.Recorded, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var parts []string
	done := loop.Recorded{Ended: len(r.Ended), Tickets: make([]*ledger.Ticket, len(r.Begin))}
	for _, s := range r.Ended {
		parts = append(parts, "-"+s.CallID)
		p.settle(s)
	}
	for i, req := range r.Begin {
		parts = append(parts, "+"+req.CallID)
		if _, known := p.effects[req.EffectID]; !known {
			ticket := p.admit(req)
			done.Tickets[i] = &ticket
		}
	}
	slices.Sort(parts)
	p.note(strings.Join(parts, " "))
	if p.lose {
		return loop.Recorded{}, &tool.Error{Kind: tool.Unavailable, Msg: "lost"}
	}
	return done, nil
}

// desk makes the calls "a", "b", … of tools with the given executions.
func (p *page) desk(
	t *testing.T, local, all bool, executor tool.Executor, tools ...tool.Execution,
) (wire.NodesInput, func(wire.NodesInput) (wire.NodesOutput, error)) {
	t.Helper()
	a := &Activities{Config: Config{
		Ledger: p, Resolver: resolver.New(begun{}, resolver.Options{}), Schemas: schema.New(0), Executor: executor,
	}}
	if p.journals {
		a.Journal = p
	}
	if p.effects == nil {
		p.effects, p.fences = map[string]*ledger.Outcome{}, map[string]int64{}
	}
	in := wire.NodesInput{Principal: tool.Principal{Tenant: "tenant"}, RunID: "run", All: all}
	for i, x := range tools {
		id := string(rune('a' + i))
		call := wire.InvokeInput{Full: true, Pin: agent.Pin{
			VersionIdentity: tool.VersionIdentity{Slug: "search"}, Execution: x, InPlace: true,
		}}
		call.Raw, call.Arguments = true, []byte(`{}`)
		call.CallIdentity = tool.CallIdentity{
			Principal: in.Principal, RunID: in.RunID, CallID: id, EffectID: id, InvocationID: "i-" + id,
		}
		in.Calls = append(in.Calls, call)
	}
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(a.Nodes, activity.RegisterOptions{Name: wire.NodesActivity})
	return in, func(in wire.NodesInput) (out wire.NodesOutput, err error) {
		if local {
			value, err := env.ExecuteLocalActivity(a.Nodes, in)
			if err != nil {
				return out, err
			}
			return out, value.Get(&out)
		}
		value, err := env.ExecuteActivity(wire.NodesActivity, in)
		if err != nil {
			return out, err
		}
		return out, value.Get(&out)
	}
}

var (
	pureTool = tool.Execution{Pure: true, TimeoutSeconds: 5, MaxAttempts: 3}
	onceTool = tool.Execution{TimeoutSeconds: 5}
)

// answering is an executor that answers with the call's id, but for the calls it says.
func answering(errs map[string]error) tool.Executor {
	return tool.ExecutorFunc(func(_ context.Context, call *tool.Call) (*tool.Result, error) {
		if err := errs[call.CallID]; err != nil {
			return nil, err
		}
		return &tool.Result{Content: []tool.Content{tool.Text(call.CallID)}}, nil
	})
}

// told lists how calls ended: by its text, or its kind.
func told(out wire.NodesOutput) (ended []string) {
	for _, end := range out.Ended {
		if end.Result != nil {
			ended = append(ended, end.Result.Content[0].Text)
		} else {
			ended = append(ended, string(end.Kind))
		}
	}
	return ended
}

// The end of a call and the beginning of the next are one record.
func TestNodesInOrder(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		journals, local bool
		tools           []tool.Execution
		log             []string
	}{
		"Journal": {true, false, []tool.Execution{pureTool, pureTool, pureTool}, []string{"+a", "+b -a", "+c -b", "-c"}},
		"Local":   {true, true, []tool.Execution{pureTool, pureTool}, []string{"+a", "+b -a", "-b"}},
		"Ledger": {
			false, false, []tool.Execution{pureTool, pureTool}, []string{"admit a", "settle a", "admit b", "settle b"},
		},
		"Once": {
			true, false, []tool.Execution{pureTool, onceTool, pureTool}, []string{"+a", "+b -a", "sent b", "+c -b", "-c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := &page{journals: tt.journals}
			in, run := p.desk(t, tt.local, false, answering(nil), tt.tools...)
			out, err := run(in)
			require.NoError(t, err)
			require.Equal(t, []string{"a", "b", "c"}[:len(tt.tools)], told(out))
			require.Equal(t, "i-a", out.Ended[0].InvocationID)
			require.Equal(t, tt.log, p.log)
			require.Empty(t, out.Handover)

			again, err := run(in)
			require.NoError(t, err)
			require.Equal(t, told(out), told(again), "settled calls are found")
			require.Len(t, p.fences, len(tt.tools))
			for _, fence := range p.fences {
				require.EqualValues(t, 1, fence)
			}
		})
	}
}

// A lost answer of a record costs no more than the admission that it had.
func TestNodesSurviveALostRecord(t *testing.T) {
	t.Parallel()

	p := &page{journals: true, lose: true}
	in, run := p.desk(t, false, false, answering(nil), pureTool, pureTool)
	out, err := run(in)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, told(out))
	require.Equal(t, map[string]int64{"a": 2, "b": 2}, p.fences)
}

// A call without an answer is the last of a sequence; the others of all are made.
func TestNodeFails(t *testing.T) {
	t.Parallel()

	errs := map[string]error{"b": &tool.Error{Kind: tool.Denied, Msg: "no"}}
	p := &page{journals: true}
	in, run := p.desk(t, true, false, answering(errs), pureTool, pureTool, pureTool)
	out, err := run(in)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "denied"}, told(out))
	require.Equal(t, []string{"+a", "+b -a", "-b"}, p.log)

	p = &page{journals: true}
	in, run = p.desk(t, true, true, answering(errs), pureTool, pureTool, pureTool)
	out, err = run(in)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "denied", "c"}, told(out))
}

// Pure calls are side by side, and a call that is not waits for those before it.
func TestNodesAllAtOnce(t *testing.T) {
	t.Parallel()

	var mu sync.Mutex
	flying, most := 0, map[string]int{}
	slow := tool.ExecutorFunc(func(_ context.Context, call *tool.Call) (*tool.Result, error) {
		mu.Lock()
		flying++
		most[call.CallID] = flying
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		flying--
		mu.Unlock()
		return &tool.Result{Content: []tool.Content{tool.Text(call.CallID)}}, nil
	})
	p := &page{journals: true}
	limited := pureTool
	limited.MaxConcurrency = 2
	in, run := p.desk(t, false, true, slow, limited, limited, limited, onceTool, pureTool)
	out, err := run(in)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "d", "e"}, told(out))
	require.Equal(t, 2, max(most["a"], most["b"], most["c"]))
	require.Equal(t, 1, most["d"], "it runs alone")
	require.Equal(t, "+a +b", p.log[0])
}

// A call whose attempt failed, and what comes after it, are left.
func TestNodeNeedsAnotherAttempt(t *testing.T) {
	t.Parallel()

	busy := map[string]error{"b": &tool.Error{Kind: tool.RateLimited, Msg: "busy", RetryAfter: 7 * time.Second}}
	p := &page{journals: true}
	in, run := p.desk(t, true, false, answering(busy), pureTool, pureTool, pureTool)
	out, err := run(in)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, told(out))
	require.Equal(t, []wire.NodeRetry{{Call: 1, Tried: 1, In: 7 * time.Second}}, out.Retry)
	require.Equal(t, wire.HandoverCalls, out.Handover)
	require.Equal(t, "busy", out.Made[1].Retry)
	require.NotContains(t, p.effects, "c")
}

// Results that are too large together are left for another activity, which finds them.
func TestNodesWithLargeResults(t *testing.T) {
	t.Parallel()

	large := tool.ExecutorFunc(func(_ context.Context, call *tool.Call) (*tool.Result, error) {
		return &tool.Result{Content: []tool.Content{tool.Text(strings.Repeat(call.CallID, maxMarkerResult/2))}}, nil
	})
	p := &page{journals: true}
	in, run := p.desk(t, true, false, large, pureTool, pureTool, pureTool, pureTool)
	out, err := run(in)
	require.NoError(t, err)
	require.Len(t, out.Ended, 1)
	require.Equal(t, wire.HandoverSlice, out.Handover)
	require.NotContains(t, p.effects, "d", "it was not begun")

	in, run = p.desk(t, false, false, large, pureTool, pureTool, pureTool)
	out, err = run(in)
	require.NoError(t, err)
	require.Len(t, out.Ended, 3)
	require.Equal(t, map[string]int64{"a": 1, "b": 1, "c": 1}, p.fences)
}

// Nodes that are stopped begin nothing, and what had ended keeps its end.
func TestNodesAreStopped(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		all  bool
		want []string
	}{
		"Sequence": {false, []string{"a", "cancelled"}},
		"All":      {true, []string{"a", "cancelled", "cancelled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := &page{journals: true}
			in, run := p.desk(t, false, tt.all, answering(nil), pureTool, pureTool, pureTool)
			first := in
			first.Calls = in.Calls[:1]
			_, err := run(first)
			require.NoError(t, err)
			in.Stop = &wire.Failure{Kind: tool.Cancelled, Msg: "the call was cancelled"}
			out, err := run(in)
			require.NoError(t, err)
			require.Equal(t, tt.want, told(out))
			require.Len(t, p.fences, 1)
		})
	}
}

// Calls of another tenant, or of another run, are refused before anything is made.
func TestNodesOfAnotherRunAreNotMade(t *testing.T) {
	t.Parallel()

	p := &page{}
	in, run := p.desk(t, false, false, answering(nil), pureTool, pureTool)
	in.Calls[1].RunID = "another"
	_, err := run(in)
	require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(err)), "%v", err)
	in.Calls[1].RunID, in.Calls[1].Principal.Tenant = in.RunID, "theirs"
	_, err = run(in)
	require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(err)), "%v", err)
	require.Empty(t, p.log)
}
