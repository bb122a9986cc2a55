package flow

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Machine is a run of a graph: alternate [Machine.Next] and one of Evaluated, Called, Slept and
// Stop. It is not safe for concurrent use.
type Machine struct {
	shape  *Shape
	state  State // Without frames.
	frames []*Frame
	flying map[string]Phase // What was started, by frame.
	over   bool
	failed *Failure
}

// phaseCancelled is that of a step in progress whose frame was dropped.
const phaseCancelled Phase = "cancelled"

// NewMachine returns a run of a graph from a state; from its beginning where that is zero.
func NewMachine(s *Shape, state State) *Machine {
	m := &Machine{shape: s, flying: map[string]Phase{}, state: state}
	m.state.Frames = nil
	for i := range state.Frames {
		f := state.Frames[i]
		m.frames = append(m.frames, &f)
	}
	if len(m.frames) == 0 {
		m.frames = []*Frame{{}}
		m.enter(m.frames[0], s.First)
	}
	return m
}

// State returns where another machine may continue. What is in progress is started anew by it.
func (m *Machine) State() State {
	out := m.state
	for _, f := range m.frames {
		out.Frames = append(out.Frames, *f)
	}
	return out
}

// Over reports whether the run has ended, and why it failed; nil where it did not.
func (m *Machine) Over() (over bool, failure *Failure) { return m.over, m.failed }

// Dropped reports whether a frame is not to go on.
func (m *Machine) Dropped(frame string) bool {
	f := m.find(frame)
	return f == nil || f.Dropped
}

// Flying returns how many steps are in progress.
func (m *Machine) Flying() int { return len(m.flying) }

// Next returns the steps to start now, and the frames whose step in progress is to be
// cancelled. They are regarded as started, and cancelled.
func (m *Machine) Next() (start []Step, cancel []string) {
	kept := m.frames[:0]
	for _, f := range m.frames {
		phase, flies := m.flying[f.Path]
		if f.Dropped && flies && phase != phaseCancelled {
			m.flying[f.Path] = phaseCancelled
			cancel = append(cancel, f.Path)
		}
		if !f.Dropped || flies {
			kept = append(kept, f)
		}
	}
	m.frames = kept
	for i := 0; i < len(m.frames); i++ { //nolint:intrange // Bodies that begin are appended.
		f := m.frames[i]
		if _, flies := m.flying[f.Path]; flies || f.Dropped {
			continue
		}
		if f.Phase == PhaseBodies {
			m.spawn(f)
			continue
		}
		if m.winding(f) {
			continue
		}
		start = append(start, m.step(f))
		m.flying[f.Path] = f.Phase
	}
	return start, cancel
}

// winding reports whether bodies of a frame are still being cancelled: what follows waits.
func (m *Machine) winding(f *Frame) bool {
	return slices.ContainsFunc(m.frames, func(other *Frame) bool {
		return other != f && other.Dropped && (f.Path == "" || strings.HasPrefix(other.Path, f.Path+"/"))
	})
}

func (m *Machine) step(f *Frame) Step {
	s := Step{
		Frame: f.Path, Node: f.At, Do: f.Phase, Attempt: f.Attempt, Until: f.Until, State: f.State, Last: f.Last,
		Failed: f.Failed, Called: f.Called, Failure: f.Failure,
	}
	if f.Items != nil {
		s.Iteration = f.Items.Ended
	}
	if n := m.shape.Find(f.At); n != nil && (f.Phase == PhaseBegin || f.Phase == PhaseClose) {
		s.Ends = n.Next == ""
		s.Tries = n.Retry != nil && f.Attempt+1 < n.Retry.Attempts
	}
	return s
}

// find returns a frame; nil where it is over.
func (m *Machine) find(path string) *Frame {
	for _, f := range m.frames {
		if f.Path == path {
			return f
		}
	}
	return nil
}

// take returns the frame of a step that has ended, unless it is not to go on.
func (m *Machine) take(path string) *Frame {
	delete(m.flying, path)
	f := m.find(path)
	switch {
	case f == nil:
		return nil
	case f.Path == "" && m.state.Stop != nil && f.Phase != PhaseOutput:
		f.Dropped = false
		m.finish(f, m.state.Stop)
		return nil
	case f.Dropped:
		return nil
	}
	return f
}

// enter begins a node.
func (m *Machine) enter(f *Frame, id string) {
	n := m.shape.Find(id)
	f.At, f.Attempt, f.Called, f.Items, f.Until = id, 0, nil, nil, time.Time{}
	m.state.Steps++
	switch {
	case n == nil:
		m.fail(f, &Failure{Kind: tool.InternalError, Msg: fmt.Sprintf("the graph has no node %q", id)})
	case m.state.Steps > m.shape.Steps:
		m.stop(&Failure{
			Kind: tool.Conflict, Node: Join(f.Path, id),
			Msg: fmt.Sprintf("the graph reached its limit of %d steps at %s", m.shape.Steps, Join(f.Path, id)),
		})
	case n.calls() && !n.Begins:
		f.Phase = PhaseCall
	case n.Kind == Parallel && !n.Begins:
		m.bodies(f, len(n.Bodies))
	default:
		f.Phase = PhaseBegin
	}
}

// bodies begins the bodies of a node.
func (m *Machine) bodies(f *Frame, total int) {
	f.Phase, f.Items = PhaseBodies, &Items{Total: total}
	if total == 0 {
		f.Phase = PhaseClose
	}
}

// spawn begins bodies of a node, as many as may run.
func (m *Machine) spawn(f *Frame) {
	n, items := m.shape.Find(f.At), f.Items
	most := n.Concurrency
	if most <= 0 {
		most = items.Total
	}
	for items.Begun < items.Total && items.Begun-items.Ended < most && f.Phase == PhaseBodies {
		name, body := strconv.Itoa(items.Begun), n.Bodies[0]
		if n.Kind == Parallel {
			body = n.Bodies[items.Begun]
			name = body.ID
		}
		items.Begun++
		child := &Frame{Path: Join(Join(f.Path, f.At), name), State: f.State, Failed: f.Failed}
		m.frames = append(m.frames, child)
		m.enter(child, body.First)
	}
}

// Evaluated records what the evaluation of a frame's step found.
func (m *Machine) Evaluated(frame string, e Evaluated) {
	f := m.take(frame)
	if f == nil {
		return
	}
	n, path := m.shape.Find(f.At), Join(f.Path, f.At)
	if e.Set {
		f.State = path
	}
	switch f.Phase {
	case PhaseBegin:
		m.begun(f, n, e)
	case PhaseClose:
		m.closed(f, n, e)
	case PhaseOutput:
		if f.Failure == nil {
			f.Failure = e.Failure
		}
		m.end(f)
	case PhaseCall, PhaseSleep, PhasePause, PhaseBodies, phaseCancelled: // Not evaluations.
	}
}

// begun continues a node whose conditions were evaluated.
func (m *Machine) begun(f *Frame, n *Node, e Evaluated) {
	switch {
	case e.Failure != nil:
		m.nodeFailed(f, n, e.Failure)
	case e.Skipped:
		m.leave(f, n.Next, e.Ended)
	case n.calls():
		f.Phase = PhaseCall
	case n.Kind == Branch:
		m.enter(f, e.Case)
	case n.Kind == Map:
		m.bodies(f, e.Count)
	case n.Kind == Parallel:
		m.bodies(f, len(n.Bodies))
	case n.Kind == Loop:
		m.iterate(f, n, e.More)
	case n.Kind == Wait:
		f.Phase, f.Until = PhaseSleep, e.Until
	default: // Start and End, which are over.
		m.leave(f, n.Next, e.Ended)
	}
}

// iterate begins another iteration of a loop, or ends it.
func (m *Machine) iterate(f *Frame, n *Node, more bool) {
	if f.Items == nil {
		f.Items = &Items{}
	}
	switch {
	case !more:
		f.Phase = PhaseClose
	case f.Items.Ended >= n.Max:
		m.nodeFailed(f, n, &Failure{
			Kind: tool.Conflict, Msg: fmt.Sprintf("the loop made %d iterations, and would go on", n.Max),
		})
	default:
		f.Items.Total++
		f.Phase = PhaseBodies
	}
}

// closed continues after a node whose end was recorded.
func (m *Machine) closed(f *Frame, n *Node, e Evaluated) {
	failure := e.Failure
	if failure == nil && f.Called != nil {
		failure = f.Called.Failure
	}
	if failure == nil && f.Failure != nil { // Of its bodies.
		failure, f.Failure = f.Failure, nil
	}
	if failure != nil {
		m.nodeFailed(f, n, failure)
		return
	}
	if n.answers() {
		f.Last = f.At
	}
	m.leave(f, n.Next, e.Ended)
}

// leave goes to the next node, or ends the body.
func (m *Machine) leave(f *Frame, next string, recorded bool) {
	switch {
	case next != "":
		m.enter(f, next)
	case recorded:
		m.end(f)
	default:
		m.finish(f, f.Failure)
	}
}

// finish ends a body, once that is recorded.
func (m *Machine) finish(f *Frame, failure *Failure) {
	f.Failure, f.Phase = failure, PhaseOutput
	if m.shape.Sequence {
		m.end(f)
	}
}

// Allows reports whether another attempt may follow a failure of a kind.
func (r *Retry) Allows(k tool.Kind) bool {
	return k != tool.Cancelled && (len(r.Kinds) == 0 || slices.Contains(r.Kinds, k))
}

// nodeFailed continues after a node that failed, as its retry and on_error say.
func (m *Machine) nodeFailed(f *Frame, n *Node, failure *Failure) {
	path := Join(f.Path, f.At)
	if failure.Node == "" {
		failure.Node = path
	}
	switch {
	case f.Phase == PhaseClose && n.Retry != nil && f.Attempt+1 < n.Retry.Attempts && n.Retry.Allows(failure.Kind):
		f.Phase, f.Called = PhasePause, nil
	case n.Continue:
		f.Last = f.At
		m.leave(f, n.Next, false)
	case n.FailTo != "":
		f.Failed = path
		m.enter(f, n.FailTo)
	default:
		m.fail(f, failure)
	}
}

// fail ends a body with a failure, or takes the graph's on_error.
func (m *Machine) fail(f *Frame, failure *Failure) {
	if f.Path == "" && m.shape.OnError != "" && !m.state.Handled {
		m.state.Handled = true
		f.Failed, f.Failure = failure.Node, nil
		m.enter(f, m.shape.OnError)
		return
	}
	m.finish(f, failure)
}

// end is the end of a body, which was recorded.
func (m *Machine) end(f *Frame) {
	m.frames = slices.DeleteFunc(m.frames, func(other *Frame) bool { return other == f })
	if f.Path == "" {
		m.over, m.failed = true, f.Failure
		return
	}
	above, id, name := parent(f.Path)
	p := m.find(above)
	if p == nil || p.Dropped || p.At != id || p.Items == nil {
		return
	}
	n := m.shape.Find(id)
	p.Items.Ended++
	if n.Kind == Loop && f.Failure == nil {
		p.State = f.State
		p.Phase = PhaseBegin // Asks whether there is another.
		return
	}
	if f.Failure != nil {
		m.failedBody(p, n, name, f.Failure)
	}
	if p.Phase == PhaseBodies && p.Items.Ended == p.Items.Total {
		p.Phase = PhaseClose
	}
}

// maxFirst bounds the failures of bodies that a message names.
const maxFirst = 3

// failedBody records that a body of a node failed. More failures than the node tolerates end
// it: its other bodies are dropped.
func (m *Machine) failedBody(p *Frame, n *Node, name string, failure *Failure) {
	p.Items.Failed++
	what := map[Kind]string{Map: "item ", Loop: "iteration ", Parallel: "branch "}[n.Kind]
	if len(p.Items.First) < maxFirst {
		p.Items.First = append(p.Items.First, tool.Clip(what+name+": "+failure.Msg, 300))
	}
	if p.Items.Failed <= n.Tolerate {
		return
	}
	m.drop(Join(p.Path, p.At))
	whole := &Failure{Kind: failure.Kind, Node: failure.Node, Msg: strings.Join(p.Items.First, "; ")}
	if n.Kind == Map {
		whole.Msg = fmt.Sprintf("%d of %d items failed, and %d may: %s", p.Items.Failed, p.Items.Total, n.Tolerate,
			strings.Join(p.Items.First, "; "))
	}
	p.Failure, p.Phase = whole, PhaseClose
}

// drop lets the bodies below a node begin nothing more.
func (m *Machine) drop(path string) {
	for _, f := range m.frames {
		if strings.HasPrefix(f.Path, path+"/") {
			f.Dropped = true
		}
	}
}

// Called records how the call or run of a frame's node ended: with a failure, or nil. Below is
// the number of calls that were made, RunID the run of an agent.
func (m *Machine) Called(frame string, end Called, below int) {
	m.state.Calls += below
	if f := m.take(frame); f != nil && f.Phase == PhaseCall {
		f.Called, f.Phase = &end, PhaseClose
		if m.shape.Sequence {
			m.closed(f, m.shape.Find(f.At), Evaluated{})
		}
	}
}

// Slept records that a frame's wait is over.
func (m *Machine) Slept(frame string) {
	f := m.take(frame)
	switch {
	case f == nil:
	case f.Phase == PhasePause:
		f.Attempt, f.Phase, f.Until = f.Attempt+1, PhaseCall, time.Time{}
	case f.Phase == PhaseSleep:
		f.Phase = PhaseClose
	}
}

// Pause returns how long to wait before another attempt at a step's node.
func (m *Machine) Pause(s Step) time.Duration {
	n := m.shape.Find(s.Node)
	if n == nil || n.Retry == nil {
		return 0
	}
	r := *n.Retry
	if r.DelaySeconds == 0 {
		r.DelaySeconds = 1
	}
	if r.Backoff == 0 {
		r.Backoff = 2
	}
	if r.MaxDelay == 0 {
		r.MaxDelay = 300
	}
	seconds := min(r.DelaySeconds*math.Pow(r.Backoff, float64(s.Attempt)), r.MaxDelay)
	return time.Duration(seconds * float64(time.Second))
}

// Stop ends the run with a failure: what is in progress is cancelled, and nothing else begins.
func (m *Machine) Stop(failure Failure) { m.stop(&failure) }

func (m *Machine) stop(failure *Failure) {
	if m.over || m.state.Stop != nil {
		return
	}
	m.state.Stop, m.state.Handled = failure, true
	root := m.frames[0]
	_, flies := m.flying[root.Path]
	if root.Phase == PhaseOutput {
		return // It ends.
	}
	for _, f := range m.frames {
		f.Dropped = f != root || flies
	}
	if !flies {
		m.finish(root, failure)
	}
}
