package wire

import (
	"cmp"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// InvokeInput asks for one call to be run, and is also the input of Admit and
// Settle. It holds everything they need except for the content of the pinned
// version.
type InvokeInput struct {
	agent.PreparedCall

	Pin         agent.Pin        `json:"pin"`
	Fence       int64            `json:"fence,omitempty"`       // From Admit; zero when Invoke does the admission itself.
	FenceOf     string           `json:"fence_of,omitempty"`    // AdmitOutput.Execution.
	Egress      tool.Egress      `json:"egress,omitempty"`      // From Admit.
	EgressRules tool.EgressRules `json:"egress_rules,omitzero"` // From Admit.
	Followed    bool             `json:"followed,omitempty"`    // From Admit: whether the run's output has followers.
	Slots       []tool.Slots     `json:"slots,omitempty"`       // From Admit.
	Full        bool             `json:"full,omitempty"`        // Whether the whole result is returned, or only a preview.
	Tried       int              `json:"tried,omitempty"`       // Attempts made before this activity, in place.
	RetryIn     time.Duration    `json:"retry_in,omitempty"`    // What the attempt before asked for.
	Test        *Test            `json:"test,omitempty"`        // Set when the call is a test of the tool.
	Node        *GraphNode       `json:"node,omitempty"`        // Set when the call is that of a graph's node, or a step's.
	From        *GraphFrom       `json:"from,omitempty"`        // Set when the call continues a graph from a node.
	Compose     bool             `json:"compose,omitempty"`     // Whether the activity makes a composition's steps too.
	// Reached is the step of a composition, counted from 1, that Tried and RetryIn are about.
	Reached  int       `json:"reached,omitempty"`
	Deadline time.Time `json:"deadline,omitzero"` // Of a composition that has begun; zero where it has no timeout.
}

// Begin sets the deadline of a composition that begins at the given time, unless it has
// begun before.
func (in *InvokeInput) Begin(at time.Time) {
	if in.Pin.Sequence() && in.Deadline.IsZero() && in.Pin.Execution.TimeoutSeconds > 0 {
		in.Deadline = at.Add(in.Pin.Execution.Timeout())
	}
}

// AdmitOutput is the admission of a call that must not be repeated.
type AdmitOutput struct {
	Fence       int64            `json:"fence"`
	Execution   string           `json:"execution,omitempty"` // Temporal's run id of the execution that holds the fence.
	Egress      tool.Egress      `json:"egress,omitempty"`
	EgressRules tool.EgressRules `json:"egress_rules,omitzero"`
	Followed    bool             `json:"followed,omitempty"` // Whether the output of the call's run has followers.
	Slots       []tool.Slots     `json:"slots,omitempty"`    // What limits how many calls of it run at once, by profiles.
	// Done is set when the effect was settled before: the call is over.
	Done *InvokeOutput `json:"done,omitempty"`
	// Asks is set, and nothing else, when the call needs an approval that it does not have.
	Asks *agent.Asking `json:"asks,omitempty"`
	// Edited is set when the arguments are others than those of the input: an attempt gets
	// them by an admission of its own.
	Edited bool `json:"edited,omitempty"`
}

// InvokeOutput is how a call ended.
type InvokeOutput struct {
	InvocationID string                `json:"invocation_id"`
	Status       tool.InvocationStatus `json:"status"`
	IsError      bool                  `json:"is_error,omitempty"`
	Preview      string                `json:"preview,omitempty"` // The beginning of the answer.
	Result       *tool.Result          `json:"result,omitempty"`  // Set when Full was set and the tool answered.
	Kind         tool.Kind             `json:"kind,omitempty"`
	Msg          string                `json:"msg,omitempty"`
	Acted        bool                  `json:"acted,omitempty"` // As in [tool.Error]; for a call that got no answer.
	// Opened is set when the call is in progress: the workflow makes the nested
	// runs or calls, and settles it.
	Opened *Opened `json:"opened,omitempty"`
	// Calls is the number of tool calls made by the nested agent run.
	Calls int `json:"calls,omitempty"`
	// Asks is set when the call is open, and needs an approval that it does not have.
	Asks *agent.Asking `json:"asks,omitempty"`
	// Waits is set when the call is open, and waits for its result from outside.
	Waits *Waiting `json:"waits,omitempty"`
}

// Opened is a nested call: one that consists of other runs or calls.
type Opened struct {
	RunID string `json:"run_id,omitempty"` // The run that was recorded; empty for a composition.
	// WorkflowID is that of the run, of an agent or a graph; empty from workers of an earlier release.
	WorkflowID string `json:"workflow_id,omitempty"`
	// Tried is how many attempts at the step of a composition that Reached counts failed
	// in the activity, and RetryIn is when the next one is due.
	Tried   int           `json:"tried,omitempty"`
	RetryIn time.Duration `json:"retry_in,omitempty"`
	Reached int           `json:"reached,omitempty"`
	// Pause is the round that the attempt saw last; zero where the run was never paused.
	Pause agent.PauseRound `json:"pause,omitempty"`
	// State is where the run of a graph begins, if that is not its first node.
	State *flow.State `json:"state,omitempty"`
}

// SettleInput closes a call that ended outside its Invoke.
type SettleInput struct {
	Invoke InvokeInput           `json:"invoke"`
	Status tool.InvocationStatus `json:"status"`
	Kind   tool.Kind             `json:"kind"`
	Msg    string                `json:"msg"`
	Child  *Child                `json:"child,omitempty"` // Set where the call was a run of an agent.
	Graph  *GraphEnd             `json:"graph,omitempty"` // Set where the call was a run of a graph, or a composition.
}

// Child is the outcome of the agent run that a nested call started.
type Child struct {
	RunID string `json:"run_id"`
	// Begun is set where the run continues on its own.
	Begun bool `json:"begun,omitempty"`
	// Kind and Msg say why the run ended, for one that could not record it
	// itself.
	Kind tool.Kind `json:"kind,omitempty"`
	Msg  string    `json:"msg,omitempty"`
	// Elsewhere is set where another execution started the run, which may still
	// be running: it is waited for, until Deadline.
	Elsewhere bool      `json:"elsewhere,omitempty"`
	Deadline  time.Time `json:"deadline,omitzero"`
}

// Entry returns the ledger entry of the call.
func (in *InvokeInput) Entry() ledger.Entry {
	entry := ledger.Entry{
		CallIdentity: in.CallIdentity, VersionIdentity: in.Pin.VersionIdentity,
		Arguments: in.Arguments, ArgumentsStored: in.Stored, Receipt: in.Receipt, Hidden: !in.Pin.Shown,
		InlineBytes: in.Pin.Execution.InlineBytes, Taints: in.Pin.Taints, Nested: in.Pin.Agent != nil,
	}
	entry.Slug = cmp.Or(in.Pin.Slug, in.Slug, in.Name)
	return entry
}
