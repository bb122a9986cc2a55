package loop_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// kinds are tools of every kind: pure or not, that need an approval, that are answered from
// outside, that are both, and a call that is refused when it is made.
var kinds = []string{
	"read", "read3", "read2", "write", "ask", "askread", "out", "outread", "askout", "askoutread", "x",
}

// stage is what a driver does with a call.
type stage int

const (
	idle stage = iota
	asked
	flying
	away // It waits for its result from outside.
	kept // For another driver.
	told // It has ended.
)

// fact is what the records say of a call, whatever becomes of the drivers.
type fact struct {
	call    string
	at      int // Its index in the driver's turn.
	pure    bool
	needs   bool // An approval.
	known   bool // The driver knows that.
	decided bool
	refused *agent.Refusal
	stage   stage
	settled string // How it ended; once.
}

func (f *fact) approved() bool { return !f.needs || f.decided && f.refused == nil }

// world is a run with its records and what happens to it.
type world struct {
	*rapid.T
	plan    agent.Plan
	r       *loop.Run
	calls   []*fact // Of the turn in progress, in the order of the model.
	saved   []byte  // A state from which another driver may continue.
	stopped error
	ended   int
}

func (w *world) flip(what string) bool { return rapid.Bool().Draw(w.T, what) }

// fact returns what is recorded of a call of the driver.
func (w *world) fact(i int) *fact {
	call := w.r.Call(i).CallID
	at := slices.IndexFunc(w.calls, func(f *fact) bool { return f.call == call })
	require.GreaterOrEqual(w, at, 0)
	return w.calls[at]
}

// settle records how a call ended. What is recorded stays, as in the ledger.
func (w *world) settle(f *fact, as string) {
	require.Empty(w, f.settled, "%s ends once", f.call)
	f.settled = as
	w.ended++
}

// answer is the model's answer: a turn of some calls, or the last.
func (w *world) answer(turn int, slugs []string) {
	w.calls = nil
	w.r.Answered(&w.plan, turnOf(fmt.Sprintf("m%d", turn), slugs...))
	for i, slug := range slugs {
		in := w.r.Call(i)
		f := &fact{call: in.CallID, at: i, pure: in.Pin.Execution.Pure, needs: in.Asks != nil, known: in.Asks != nil}
		if slug == "x" {
			f.pure, f.stage, f.settled = true, told, "refused"
		}
		w.calls = append(w.calls, f)
	}
	w.save()
}

func (w *world) save() {
	state := w.r.State()
	require.True(w, slices.IsSortedFunc(state.Batch, func(a, b wire.InvokeInput) int { return a.Position - b.Position }))
	left := 0
	for _, f := range w.calls {
		if f.stage != told {
			require.Equal(w, f.call, state.Batch[left].CallID, "nothing is lost")
			left++
		}
	}
	require.Len(w, state.Batch, left)
	var err error
	w.saved, err = json.Marshal(state)
	require.NoError(w, err)
}

// die continues with another driver from the saved state, which may be older than what is
// recorded: calls that ended since are started again, and find how.
func (w *world) die() {
	var state wire.RunState
	require.NoError(w, json.Unmarshal(w.saved, &state))
	w.r = loop.NewRun(identity, state)
	if w.stopped != nil {
		w.r.Stop(w.stopped)
	}
	for _, f := range w.calls {
		f.stage = told
	}
	for i := range state.Batch {
		f := w.fact(i)
		f.at, f.stage, f.known = i, idle, state.Batch[i].Asks != nil
	}
	for _, f := range w.calls {
		require.True(w, f.stage != told || f.settled != "", "%s is lost", f.call)
	}
}

// step does what the machine says next, and reports whether there was anything.
func (w *world) step() (loop.Step, bool) {
	step := w.r.Next()
	require.True(w, slices.IsSorted(step.Wait))
	require.True(w, slices.IsSortedFunc(step.Start, func(a, b loop.Start) int { return a.Call - b.Call }))
	for _, i := range step.Wait {
		f := w.fact(i)
		require.Equal(w, idle, f.stage, "an approval is asked for once")
		require.True(w, f.needs)
		f.stage = asked
	}
	for _, f := range w.calls {
		require.False(w, w.stopped == nil && f.known && f.stage == idle && w.r.Call(f.at).Asks != nil, "asked at once")
	}
	for _, start := range step.Start {
		w.start(start)
	}
	for _, f := range w.calls {
		begun := f.stage == flying || f.stage == away || f.stage == told
		require.True(w, begun || w.stopped == nil, "a run that stops drops its waits")
	}
	return step, len(step.Wait)+len(step.Start) > 0
}

func (w *world) start(start loop.Start) {
	f, in := w.fact(start.Call), w.r.Call(start.Call)
	require.NotContains(w, []stage{flying, away, told}, f.stage, "%s is started once", f.call)
	require.Equal(w, w.stopped != nil, start.Refuse != nil)
	switch {
	case start.Refuse != nil || f.settled != "":
		f.stage = flying
		return
	case in.Refused != nil:
		require.True(w, f.decided)
		require.Equal(w, f.refused, in.Refused)
	default:
		require.True(w, !f.known || f.approved(), "%s runs unapproved", f.call)
		w.requireTurn(f, in)
		if w.flip("hold") {
			w.r.Hold(start.Call)
			f.stage = kept
			return
		}
	}
	f.stage = flying
}

// requireTurn checks that a call which is to run comes when it may.
func (w *world) requireTurn(f *fact, in *wire.InvokeInput) {
	for _, before := range w.calls {
		if before == f {
			break
		}
		waits := before.stage == asked || before.stage == away
		switch {
		case before.settled != "" || before.refused != nil:
		case !f.pure:
			require.Fail(w, "overtaken", "%s, which is not pure, overtakes %s", f.call, before.call)
		case w.plan.ToolMode != agent.ParallelSafe:
			require.Fail(w, "overtaken", "%s overtakes %s", f.call, before.call)
		default:
			require.True(w, before.pure || waits, "%s overtakes %s, which does not wait", f.call, before.call)
		}
	}
	for _, other := range w.calls {
		alone := f.pure && other.pure || other == f || other.settled != "" || other.refused != nil
		require.True(w, other.stage != flying || alone, "%s runs beside %s", in.CallID, other.call)
	}
}

// happen lets one thing happen that may, and reports whether there was one.
func (w *world) happen() bool {
	var open []*fact
	for _, f := range w.calls {
		if f.stage == asked || f.stage == flying || f.stage == away {
			open = append(open, f)
		}
	}
	if w.stopped == nil && rapid.IntRange(0, 19).Draw(w.T, "cancel") == 0 {
		w.stopped = &tool.Error{Kind: tool.Cancelled, Op: "loop.Run", Msg: "the run was cancelled"}
		w.r.Stop(w.stopped)
		return true
	}
	kept := slices.ContainsFunc(w.calls, func(f *fact) bool { return f.stage == kept })
	switch {
	case len(open) == 0 && !kept:
		return false
	case len(open) == 0, rapid.IntRange(0, 9).Draw(w.T, "die") == 0:
		for _, f := range w.calls { // What has ended, the driver may not have heard.
			if f.stage == away && f.settled == "" && w.flip("unheard") {
				w.settle(f, "ran")
			}
		}
		if w.flip("saved") {
			w.save()
		}
		w.die()
		return true
	}
	f := rapid.SampledFrom(open).Draw(w.T, "call")
	if f.stage == asked {
		w.decide(f)
	} else {
		w.proceed(f)
	}
	return true
}

// decide approves or rejects a call, or lets its time go by. A decision stays.
func (w *world) decide(f *fact) {
	if !f.decided {
		f.decided = true
		f.refused = rapid.SampledFrom([]*agent.Refusal{
			nil, nil,
			{Kind: tool.Denied, Status: tool.StatusRejected, Msg: "no"},
			{Kind: tool.Timeout, Status: tool.StatusExpired, Msg: "nobody decided"},
		}).Draw(w.T, "decision")
	}
	f.stage = idle
	w.r.Decided(f.at, f.refused)
	w.r.Decided(f.at, nil) // Said twice, it counts once.
	if w.stopped == nil {
		require.Equal(w, f.refused, w.r.Call(f.at).Refused)
	}
}

// proceed goes on with a call in progress.
func (w *world) proceed(f *fact) {
	in := w.r.Call(f.at)
	slug := in.Pin.Slug
	switch {
	case f.settled != "": // By an attempt before.
	case in.Refused != nil:
		w.settle(f, string(in.Refused.End()))
	case w.stopped != nil && f.stage == flying && w.flip("cancelled"):
		w.settle(f, "cancelled")
	case w.stopped == nil && f.stage == flying && !f.decided && (!f.approved() || !f.pure && w.flip("asks")),
		w.stopped == nil && f.stage == flying && !f.approved():
		f.needs, f.known, f.stage = true, true, idle
		w.r.Asks(f.at, agent.Asking{Reasons: []string{"it asks now"}})
		return
	case !f.approved():
		w.settle(f, "cancelled")
	case f.stage == flying && strings.Contains(slug, "out"):
		f.stage = away
		w.r.Waits(f.at)
		return
	default:
		w.settle(f, "ran")
	}
	f.stage = told
	w.r.Called(f.at, 0, nil)
	if w.flip("again") {
		w.r.Called(f.at, 0, nil)
		w.r.Decided(f.at, nil)
	}
	if w.flip("save") {
		w.save()
	}
}

// requireEnded checks the calls of a turn that is over.
func (w *world) requireEnded() {
	for _, f := range w.calls {
		require.Equal(w, told, f.stage)
		switch {
		case f.settled == "refused", w.stopped != nil && f.settled == "cancelled":
		case f.refused != nil:
			require.Equal(w, string(f.refused.End()), f.settled)
		default:
			require.Equal(w, "ran", f.settled, "%s is not concerned by the others", f.call)
			require.True(w, f.approved())
		}
	}
}

// Whatever order decisions, results, cancellations and deaths of drivers come in: each call
// ends once, none is lost, none runs unapproved, none that is not pure overtakes, pure ones
// overtake only what waits, and how a call ends concerns no other.
func TestCallsEndOnceInAnyOrder(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		w := &world{T: t, plan: planOf(
			rapid.SampledFrom([]agent.ToolMode{agent.ParallelSafe, agent.ParallelSafe, agent.Sequential}).Draw(t, "mode"),
			agent.Limits{},
		)}
		w.r = loop.NewRun(identity, wire.RunState{Plan: w.plan, Head: "m0", Mode: tool.Production})
		made, turns := 0, rapid.IntRange(1, 2).Draw(t, "turns")
		for turn := 0; ; {
			step, more := w.step()
			switch {
			case more:
			case step.Ask && turn < turns:
				w.requireEnded()
				turn++
				slugs := rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 6).Draw(t, "slugs")
				w.answer(turn, slugs)
				for _, slug := range slugs {
					if slug != "x" {
						made++
					}
				}
			case step.Ask:
				w.requireEnded()
				require.Equal(t, made, w.ended)
				return
			case step.End:
				w.requireEnded()
				require.Equal(t, made, w.ended)
				require.Equal(t, w.stopped, w.r.Err())
				return
			default:
				require.True(t, w.happen(), "the run waits for nothing")
				continue
			}
			if more && w.flip("first") {
				w.happen()
			}
		}
	})
}
