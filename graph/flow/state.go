package flow

import (
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// State is how far a run of a graph came. It holds references and counts, never results: those
// are in the records of nodes ([Record]).
type State struct {
	Frames []Frame `json:"frames"` // In the order in which they began; the first is the graph's own.
	Steps  int     `json:"steps"`  // Nodes that have begun.
	Calls  int     `json:"calls"`  // Calls that were made, by agents below too.
	// Handled says that the graph's on_error has been taken.
	Handled bool `json:"handled,omitempty"`
	// Stop is why the run begins nothing more, if it does not: it only ends.
	Stop *Failure `json:"stop,omitempty"`
}

// From returns the state of a run that begins a node of the graph's own body, after so many nodes.
func (s *Shape) From(f Frame, node string, steps int, handled bool) State {
	m := &Machine{shape: s, flying: map[string]Phase{}, frames: []*Frame{&f}, state: State{Steps: steps, Handled: handled}}
	m.enter(&f, node)
	return m.State()
}

// Frame is a body that is running.
type Frame struct {
	// Path is "" of the graph's own body, else the path of the node that has the body, and the
	// index of the item or iteration, or the branch: "each/3", "each/3/fan/left".
	Path  string `json:"path,omitempty"`
	At    string `json:"at"` // The id of the node in progress.
	Phase Phase  `json:"phase"`
	// Attempt is how often the node failed before, of those that its retry allows.
	Attempt int       `json:"attempt,omitempty"`
	Until   time.Time `json:"until,omitzero"` // When a wait, or the pause before an attempt, ends.
	Last    string    `json:"last,omitempty"` // The node whose result is the body's, so far.
	// State is the path of the record that has the state; empty for the first state.
	State  string `json:"state,omitempty"`
	Failed string `json:"failed,omitempty"` // The node whose failure led here.
	// Called is how the call of the node ended, until that is recorded.
	Called *Called `json:"called,omitempty"`
	// Failure is why the body failed, until that is recorded.
	Failure *Failure `json:"failure,omitempty"`
	// Items counts the bodies of the node in progress.
	Items *Items `json:"items,omitempty"`
	// Dropped says that the body is not to go on: what it does is cancelled.
	Dropped bool `json:"dropped,omitempty"`
}

// Items counts the items, branches or iterations of a node.
type Items struct {
	Total  int `json:"total"` // Of a loop: of those that are certain.
	Begun  int `json:"begun"`
	Ended  int `json:"ended"`
	Failed int `json:"failed,omitempty"`
	// First are the first failures, for the message.
	First []string `json:"first,omitempty"`
}

// Called is how a call or a run of a node ended.
type Called struct {
	Failure *Failure `json:"failure,omitempty"`
	RunID   string   `json:"run_id,omitempty"` // Of an agent.
}

// Failure is why a node, or the graph, failed.
type Failure struct {
	Kind tool.Kind `json:"kind"`
	Msg  string    `json:"msg"`
	Node string    `json:"node,omitempty"` // The path of the node that failed first.
}

// Phase is what a frame does next, or does.
type Phase string

// Phases.
const (
	PhaseBegin  Phase = "begin"  // Evaluates the node's conditions.
	PhaseCall   Phase = "call"   // Makes its call or run.
	PhaseSleep  Phase = "sleep"  // Waits for a time.
	PhasePause  Phase = "pause"  // Waits before another attempt.
	PhaseClose  Phase = "close"  // Records how it ended.
	PhaseBodies Phase = "bodies" // Its bodies run.
	PhaseOutput Phase = "output" // Records how the body ended.
)

// Step is what is to be done next for a frame. Evaluations ([Step.Evaluates]) are answered by
// [Machine.Evaluated], the others by [Machine.Called] or [Machine.Slept].
type Step struct {
	Frame   string    `json:"frame,omitempty"`
	Node    string    `json:"node,omitempty"`
	Do      Phase     `json:"do"`
	Attempt int       `json:"attempt,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	State   string    `json:"state,omitempty"`  // As in [Frame].
	Last    string    `json:"last,omitempty"`   // As in [Frame].
	Failed  string    `json:"failed,omitempty"` // As in [Frame].
	// Iteration is how many iterations of a loop have ended.
	Iteration int      `json:"iteration,omitempty"`
	Called    *Called  `json:"called,omitempty"`
	Failure   *Failure `json:"failure,omitempty"`
	// Ends says that the body ends with the node, if it succeeds: that is recorded with it.
	Ends bool `json:"ends,omitempty"`
	// Tries says that the node will be made again if it failed: it is not recorded.
	Tries bool `json:"tries,omitempty"`
}

// Evaluates reports whether a step only reads and writes records.
func (s Step) Evaluates() bool {
	return s.Do == PhaseBegin || s.Do == PhaseClose || s.Do == PhaseOutput
}

// Path returns the path of the record of the step's node; that of its body where it records that.
func (s Step) Path() string {
	if s.Do == PhaseOutput {
		return s.Frame
	}
	return Join(s.Frame, s.Node)
}

// Evaluated is what an evaluation found.
type Evaluated struct {
	Skipped bool      `json:"skipped,omitempty"`
	Case    string    `json:"case,omitempty"`  // Of a branch: the node to go to.
	Count   int       `json:"count,omitempty"` // Of a map: its items.
	More    bool      `json:"more,omitempty"`  // Of a loop: there is another iteration.
	Until   time.Time `json:"until,omitzero"`  // Of a wait.
	Set     bool      `json:"set,omitempty"`   // The node set the state.
	Ended   bool      `json:"ended,omitempty"` // The body's end was recorded too.
	Failure *Failure  `json:"failure,omitempty"`
}

// Join returns the path of something below another path.
func Join(frame, name string) string {
	if frame == "" {
		return name
	}
	return frame + "/" + name
}

// parent returns the path of the frame that a frame's node is in, the node's id, and the last
// element: the index or the branch.
func parent(frame string) (above, id, index string) {
	rest, index := cutLast(frame)
	above, id = cutLast(rest)
	return above, id, index
}

func cutLast(path string) (before, last string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// Index returns the index of the item or iteration that a frame is; -1 for a branch.
func Index(frame string) int {
	_, last := cutLast(frame)
	i, err := strconv.Atoi(last)
	if err != nil {
		return -1
	}
	return i
}
