package agentcall

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Modes of an answer.
const (
	Sync  = "sync"  // The call waited for the run.
	Async = "async" // The run continues in the background.
)

// Statuses of an answer.
const (
	Completed = "completed"
	Failed    = "failed"
	TimedOut  = "timeout"
	Cancelled = "cancelled"
	Running   = "running" // Of a task without wait.
)

// End is the outcome of a call of an agent.
type End struct {
	Mode    string // [Sync] when empty.
	AgentID string
	Agent   string // Slug.
	Version string
	RunID   string // Empty when no run was started.

	Status   agent.RunStatus
	Output   string    // The agent's last message.
	Kind     tool.Kind // Why the run failed.
	Msg      string
	TimedOut bool // The run exceeded its time limit, or its caller's.

	Turns, Calls int
	Task         bool
}

// answer is the structured result (reference number S3-63).
type answer struct {
	Mode    string   `json:"mode"`
	AgentID string   `json:"target_agent_id,omitempty"`
	Agent   string   `json:"target_agent_slug,omitempty"`
	RunID   string   `json:"run_id,omitempty"`
	Status  string   `json:"status"`
	Output  string   `json:"output,omitempty"`
	Context around   `json:"context"`
	Error   *problem `json:"error,omitempty"`
}

// around is a run's metadata in the result.
type around struct {
	Version string `json:"agent_version,omitempty"`
	Turns   int    `json:"turns"`
	Calls   int    `json:"calls"`
}

type problem struct {
	Kind    tool.Kind `json:"kind"`
	Message string    `json:"message"`
}

// Result returns the result for the caller: the output, or why there is none, in words for
// a model. A run that failed, timed out or was cancelled gives an error result.
func (e End) Result() *tool.Result {
	a := answer{
		Mode: cmp.Or(e.Mode, Sync), AgentID: e.AgentID, Agent: e.Agent, RunID: e.RunID, Status: e.status(),
		Output: e.Output, Context: around{e.Version, e.Turns, e.Calls},
	}
	text := e.Output
	switch a.Status {
	case Completed:
		text = cmp.Or(text, e.who()+" finished without output.")
	case Running:
		text = fmt.Sprintf(
			"%s was started as run %s and continues in the background: task_status reports its state.", e.who(), e.RunID,
		)
	default:
		a.Error = e.problem(a.Status)
		text = e.refusal(a.Status, a.Error)
	}
	structured, err := json.Marshal(a)
	if err != nil { // Strings and numbers have a JSON form.
		return tool.ErrorResult(text)
	}
	return &tool.Result{Content: []tool.Content{tool.Text(text)}, Structured: structured, IsError: a.Error != nil}
}

func (e End) status() string {
	switch {
	case e.TimedOut:
		return TimedOut
	case e.Status == agent.RunCompleted:
		return Completed
	case e.Status == agent.RunCancelled:
		return Cancelled
	case e.Status == agent.RunFailed:
		return Failed
	default:
		return Running
	}
}

func (e End) problem(status string) *problem {
	switch status {
	case TimedOut:
		return &problem{tool.Timeout, cmp.Or(e.Msg, "the time limit passed before the run ended")}
	case Cancelled:
		return &problem{tool.Cancelled, cmp.Or(e.Msg, "the run was cancelled")}
	default:
		return &problem{cmp.Or(e.Kind, tool.InternalError), cmp.Or(e.Msg, "the run failed")}
	}
}

// refusal describes the outcome of a run that did not complete.
func (e End) refusal(status string, p *problem) string {
	var text string
	why := strings.TrimRight(p.Message, ". ")
	switch status {
	case TimedOut:
		text = fmt.Sprintf(
			"%s did not finish in time and was stopped: %s. Ask for less, or continue without it.", e.who(), why,
		)
	case Cancelled:
		text = fmt.Sprintf("%s was cancelled: %s.", e.who(), why)
	default:
		text = fmt.Sprintf("%s failed (%s): %s.", e.who(), p.Kind, why)
	}
	if e.Calls > 0 {
		text += " Effects of its tool calls remain."
	}
	if e.Output != "" {
		text += " Its last output: " + e.Output
	}
	return text
}

func (e End) who() string {
	name := cmp.Or(e.Agent, e.AgentID)
	if e.Task {
		return "The task of agent " + name
	}
	return "Agent " + name
}
