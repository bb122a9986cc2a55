package wire

import (
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// GraphInput starts the run of a graph, for a call that was opened before.
type GraphInput struct {
	Invoke   InvokeInput `json:"invoke"`
	Deadline time.Time   `json:"deadline,omitzero"` // Zero for none.
	// MaxCalls bounds the calls of each agent below, as in [AgentRunInput].
	MaxCalls int         `json:"max_calls,omitempty"`
	Resume   *flow.State `json:"resume,omitempty"` // Where the run continues.
	Held     []HeldNode  `json:"held,omitempty"`   // Calls of Resume that were begun in place.
	Begun    int         `json:"begun,omitempty"`  // Calls that were begun, for the order of their ids.
	// Pause is the round that the workflow begins with.
	Pause agent.PauseRound `json:"pause,omitempty"`
}

// GraphFrom says that the run of a graph begins with a node that another run of it came to, with the
// records of the nodes before it.
type GraphFrom struct {
	EffectID string `json:"effect_id"` // Of the other run's call.
	RunID    string `json:"run_id"`    // The run that call belongs to.
	Node     string `json:"node"`
}

// GraphEnd is how the run of a graph ended. Its output is in the records of its nodes.
type GraphEnd struct {
	Failure *flow.Failure `json:"failure,omitempty"`
	Calls   int           `json:"calls,omitempty"` // That its nodes made, and the agents below.
	Steps   int           `json:"steps,omitempty"` // Nodes that began.
}

// GraphCancelled is why a run of a graph, or a composition, ends that was cancelled.
func GraphCancelled(pin agent.Pin) string {
	if pin.Sequence() {
		return "the call was cancelled"
	}
	return "the run of the graph was cancelled"
}

// GraphLate is why a run of a graph, or a composition, ends whose time is over.
func GraphLate(pin agent.Pin) string {
	return fmt.Sprintf("the %s did not end in its time of %s", pin.Implementation, pin.Execution.Timeout())
}

// Sequence is the run of a composition that was opened, from the step that it reached.
func (in *InvokeInput) Sequence() GraphInput {
	out := GraphInput{Invoke: *in, Deadline: in.Deadline}
	if nodes := in.Pin.Graph.Shape.Nodes; in.Reached > 0 && in.Reached <= len(nodes) {
		before := in.Reached - 1
		state := in.Pin.Graph.Shape.From(flow.Frame{}, nodes[before].ID, before, false)
		out.Resume, out.Begun = &state, in.Reached
		out.Held = []HeldNode{{Place: in.Reached, Tried: in.Tried, RetryIn: in.RetryIn}}
	}
	return out
}

// GraphCall identifies the call that is the run of a graph.
type GraphCall struct {
	tool.CallIdentity

	Version tool.VersionIdentity `json:"version"`
	Test    *Test                `json:"test,omitempty"` // Set when the call is a test of the graph: so are those of its nodes.
}

// GraphCall returns the identity of a call that is the run of a graph.
func (in *InvokeInput) GraphCall() GraphCall {
	return GraphCall{CallIdentity: in.CallIdentity, Version: in.Pin.VersionIdentity, Test: in.Test}
}

// GraphNode says that a call is that of a graph's node, or of a composition's step. The input of
// the call follows from it: the graph's content and arguments, and the records of earlier nodes.
type GraphNode struct {
	EffectID string    `json:"effect_id"` // The graph's.
	CallID   string    `json:"call_id"`   // The graph's.
	ToolID   string    `json:"tool_id"`   // The graph's.
	Slug     string    `json:"slug"`      // The graph's.
	Version  string    `json:"version"`   // The graph's.
	Digest   string    `json:"digest"`    // The graph's.
	Step     flow.Step `json:"step"`
}

// Call returns the graph's call that in is a node of.
func (n *GraphNode) Call(in *InvokeInput) GraphCall {
	c := GraphCall{CallIdentity: in.CallIdentity}
	c.EffectID, c.CallID, c.InvocationID = n.EffectID, n.CallID, in.ParentID
	c.Version.ToolID, c.Version.Slug, c.Version.Version, c.Version.Digest = n.ToolID, n.Slug, n.Version, n.Digest
	return c
}

// NodeCall returns the call that a node makes at a step. At is when it is asked for; it only
// orders the call in lists where the graph's own id does not.
func (g GraphCall) NodeCall(s flow.Step, pin agent.Pin, at time.Time, n int) InvokeInput {
	in := InvokeInput{
		PreparedCall: agent.PreparedCall{CallIdentity: g.CallIdentity, Slug: pin.Slug, Raw: true}, Pin: pin, Test: g.Test,
		Node: &GraphNode{
			EffectID: g.EffectID, CallID: g.CallID, ToolID: g.Version.ToolID, Slug: g.Version.Slug,
			Version: g.Version.Version, Digest: g.Version.Digest, Step: s,
		},
	}
	in.MessageID, in.ParentID = "", g.InvocationID
	in.CallID, in.EffectID = NodeCallID(g.CallID, s.Path()), g.NodeEffect(s)
	in.InvocationID = ledger.StepInvocationID(g.InvocationID, n, in.EffectID, at)
	return in
}

// NodeEffect returns the effect of the call or run that a node makes at a step.
func (g GraphCall) NodeEffect(s flow.Step) string {
	return ledger.StepEffect(g.EffectID, fmt.Sprintf("%s#%d", s.Path(), s.Attempt))
}

// maxNodeCallID bounds the ids of nodes' calls, in bytes.
const maxNodeCallID = 250

// NodeCallID returns the id of the call of a node: that of the graph, and the node's path, of
// which the beginning is left out where it is too long.
func NodeCallID(call, path string) string {
	id := call + "/" + path
	if len(id) > maxNodeCallID {
		id = call[:min(len(call), 64)] + "/…" + id[len(id)-(maxNodeCallID-70):]
	}
	return id
}

// AdvanceGraphInput asks for the run of a graph to be taken as far as one process can, from
// Resume.
type AdvanceGraphInput struct {
	GraphInput

	// Stop ends the run with this failure: no call is begun, and those that are open are settled as
	// cancelled.
	Stop *flow.Failure `json:"stop,omitempty"`
}

// GraphSlice is how long one AdvanceGraph begins calls, so that histories show progress.
const GraphSlice = time.Minute

// AdvanceGraphOutput is how far an AdvanceGraph came.
type AdvanceGraphOutput struct {
	Ended    *GraphEnd   `json:"ended,omitempty"` // Set when the run is over.
	Handover Handover    `json:"handover,omitempty"`
	State    *flow.State `json:"state,omitempty"` // Where to continue.
	Held     []HeldNode  `json:"held,omitempty"`  // Calls of State that were begun, and are still open.
	Begun    int         `json:"begun,omitempty"` // As in [GraphInput].
	// Pause is the round that was seen last; zero where the run was never paused.
	Pause agent.PauseRound `json:"pause,omitempty"`

	Made  []CallMade `json:"made,omitempty"` // The first [MaxCallsMade] calls that ended here.
	Calls int        `json:"calls"`          // How many there were.
}

// HeldNode is the call of a node that was begun in place, and is to be continued by an activity
// or a wait of its own.
type HeldNode struct {
	Frame   string        `json:"frame,omitempty"`
	Place   int           `json:"place"` // That its id was made with.
	Tried   int           `json:"tried,omitempty"`
	RetryIn time.Duration `json:"retry_in,omitempty"`
	Reached int           `json:"reached,omitempty"` // As in [InvokeInput].
	Asks    *agent.Asking `json:"asks,omitempty"`    // The approval that it needs.
}

// EvaluateGraphInput asks for steps of a graph that read and write its records only.
type EvaluateGraphInput struct {
	Graph GraphCall   `json:"graph"`
	Steps []flow.Step `json:"steps"`
}

// EvaluateGraphOutput is what was found, in the order of the steps.
type EvaluateGraphOutput struct {
	Evaluated []flow.Evaluated `json:"evaluated"`
}

// OpenNodeInput asks for the run of an agent that a node of a graph runs.
type OpenNodeInput struct {
	Graph GraphCall          `json:"graph"`
	Step  flow.Step          `json:"step"`
	Agent agent.PinnedTarget `json:"agent"`
}

// OpenNodeOutput is the recorded run, or why there is none.
type OpenNodeOutput struct {
	RunID string `json:"run_id,omitempty"`
	// WorkflowID is that of the run; empty from workers of an earlier release.
	WorkflowID string        `json:"workflow_id,omitempty"`
	Failure    *flow.Failure `json:"failure,omitempty"`
}
