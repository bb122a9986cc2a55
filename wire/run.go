package wire

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// AgentRunInput starts an agent run that was recorded before.
type AgentRunInput struct {
	Principal tool.Principal `json:"principal"`
	RunID     string         `json:"run_id"`
	// Head is the message that the first turn answers; empty for the run's
	// first message.
	Head   string    `json:"head,omitempty"`
	Resume *RunState `json:"resume,omitempty"` // Where the run continues.
	// Inline has the workflow take the run's first steps as part of its own task, which
	// costs the Temporal server less than an activity.
	Inline bool `json:"inline,omitempty"`
	// Deadline and MaxCalls bound a nested run, besides its own limits: they
	// are what its caller has left.
	Deadline time.Time `json:"deadline,omitzero"`
	MaxCalls int       `json:"max_calls,omitempty"`
	// Pause is the round that the workflow begins with.
	Pause agent.PauseRound `json:"pause,omitempty"`
}

// NewAgentRun returns the input of a run that is about to start, from its first
// message on. The input is part of the history, so a workflow that is reset
// starts from that message again, whatever was added to the transcript since.
func NewAgentRun(p tool.Principal, runID string) AgentRunInput {
	return AgentRunInput{Principal: p, RunID: runID, Head: ledger.FirstMessageID(runID), Inline: true}
}

// RunState is what an agent run carries from one execution to the next. It
// holds references and counts, never a transcript.
type RunState struct {
	Plan     agent.Plan `json:"plan"`
	Mode     tool.Mode  `json:"mode"`
	Head     string     `json:"head"` // The message that the next turn answers.
	Turns    int        `json:"turns"`
	Calls    int        `json:"calls"`
	Deadline time.Time  `json:"deadline"`
	MaxCalls int        `json:"max_calls,omitempty"` // As in [AgentRunInput].
	// Batch are the calls of the turn in progress that have not ended, with their
	// pins. Where it is all that is needed of them, the plan is without tools.
	Batch []InvokeInput `json:"batch,omitempty"`
	// Over says that the run ends when these have ended, because the agent said so.
	Over bool `json:"over,omitempty"`
	// Stop is why the run begins nothing more, if it does not: it only ends.
	Stop *Failure `json:"stop,omitempty"`
}

// AgentRunOutput is how an agent run ended. The transcript is in the database.
type AgentRunOutput struct {
	RunID  string          `json:"run_id"`
	Status agent.RunStatus `json:"status"`
	Turns  int             `json:"turns"`
	Calls  int             `json:"calls"`
	Head   string          `json:"head"`
	Answer string          `json:"answer,omitempty"` // The beginning of the agent's last message.
}

// LoadPlanInput asks for the plan of a single call, or of a workflow of a host.
type LoadPlanInput struct {
	Principal  tool.Principal `json:"principal"`
	RunID      string         `json:"run_id"`
	FirstRunID string         `json:"first_run_id"`
	Node       *Node          `json:"node,omitempty"`  // Set for a single call; then there is no agent.
	Tools      []tool.Ref     `json:"tools,omitempty"` // Set for the plan of a host workflow, without agent and node.
	Mode       tool.Mode      `json:"mode,omitempty"`  // Of the calls that Tools are for.
	Kind       agent.RunKind  `json:"kind"`
}

// Node is one tool call as a workflow asks for it.
type Node struct {
	ID        string          `json:"id"` // Names the call within its workflow.
	Tool      tool.Ref        `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Mode      tool.Mode       `json:"mode"`
	Test      *Test           `json:"test,omitempty"` // Set when the call is a test of the tool.
	From      *GraphFrom      `json:"from,omitempty"` // Set when the call continues a graph from a node.
}

// MaxHistoryArguments bounds the arguments of a call that a workflow makes, in bytes: they are in
// its history, more than once. Those of a model's calls are stored with its message.
const MaxHistoryArguments = 512 << 10

// CheckArguments fails with tool.Invalid for arguments of more than [MaxHistoryArguments].
func (n *Node) CheckArguments(op string) error {
	if size := len(n.Arguments); size > MaxHistoryArguments {
		return &tool.Error{
			Kind: tool.Invalid, Op: op, Path: "/arguments", Msg: fmt.Sprintf(
				"the arguments have %d bytes, more than the limit of %d: store what is large, such as in a file, and refer to it",
				size, MaxHistoryArguments),
		}
	}
	return nil
}

// Test marks a call as a test of its tool.
type Test struct {
	AllowWrites bool `json:"allow_writes,omitempty"` // It may change something.
}

// LoadPlanOutput is a run's plan and, for a single call, the prepared call.
type LoadPlanOutput struct {
	RunID string              `json:"run_id"`
	Mode  tool.Mode           `json:"mode"`
	Plan  agent.Plan          `json:"plan"`
	Call  *agent.PreparedCall `json:"call,omitempty"`
	// Pause is the round of the run; zero where it was never paused.
	Pause agent.PauseRound `json:"pause,omitempty"`
}

// FinishRunInput is how a run ended.
type FinishRunInput struct {
	Principal tool.Principal  `json:"principal"`
	RunID     string          `json:"run_id"`
	Status    agent.RunStatus `json:"status"`
	Head      string          `json:"head,omitempty"`
	Turns     int             `json:"turns"`
	Calls     int             `json:"calls,omitempty"`
	Kind      tool.Kind       `json:"kind,omitempty"`
	Msg       string          `json:"msg,omitempty"`
}

// ToolCallInput starts a single call that was recorded as a run before.
type ToolCallInput struct {
	Principal tool.Principal `json:"principal"`
	RunID     string         `json:"run_id"`
	Node      Node           `json:"node"`
}

// NewToolCall returns the input of a call that is about to start.
func NewToolCall(p tool.Principal, runID string, n Node) ToolCallInput {
	return ToolCallInput{Principal: p, RunID: runID, Node: n}
}
