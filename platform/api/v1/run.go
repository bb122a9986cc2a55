package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// NewRun requests a run of an agent.
type NewRun struct {
	Agent   string          `json:"agent" minLength:"1" maxLength:"200" doc:"Slug or id of the agent, optionally with @version" example:"supportDesk"`
	Version string          `json:"version,omitempty" maxLength:"100" doc:"Version or constraint, such as ^1.2; the highest published one when absent" example:"^1.2"`
	Input   json.RawMessage `json:"input" doc:"The user's message: a string, or any JSON value" example:"\"Where is my order 4711?\""`
	Mode    tool.Mode       `json:"mode,omitempty" enum:"production,debug" default:"production" doc:"In debug mode drafts run too"`
	Follow  bool            `json:"follow,omitempty" doc:"The caller follows the events as a stream at once: the model streams from the first turn on"`
}

// NewMessage says more to an agent.
type NewMessage struct {
	Input     json.RawMessage `json:"input" doc:"What the user says next: a string, or any JSON value" example:"\"And when will it arrive?\""`
	AfterTurn int             `json:"after_turn,omitempty" minimum:"0" doc:"Take over the transcript up to this turn only: a fork"`
	Version   string          `json:"version,omitempty" maxLength:"100" doc:"Version or constraint of the agent; that of the run when absent" example:"^1.2"`
	Follow    bool            `json:"follow,omitempty" doc:"As of a new run"`
}

// Rerun starts a run again.
type Rerun struct {
	Version string `json:"version,omitempty" maxLength:"100" doc:"Version or constraint of the agent; the highest published one when absent" example:"^1.2"`
	Follow  bool   `json:"follow,omitempty" doc:"As of a new run"`
}

// Continued is the run whose transcript another one took over.
type Continued struct {
	RunID string `json:"run_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000c0"`
	Turn  int    `json:"turn" doc:"The last turn that was taken over"`
}

// Run is the record of a durable execution.
type Run struct {
	ID           string          `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	Kind         agent.RunKind   `json:"kind" enum:"agent,tool_call,tool_test,host"`
	Agent        string          `json:"agent,omitempty" example:"supportDesk"`
	AgentID      string          `json:"agent_id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000b1"`
	AgentVersion string          `json:"agent_version,omitempty" example:"1.2.0"`
	Tool         string          `json:"tool,omitempty" doc:"The tool of a single call" example:"getOrder"`
	Mode         tool.Mode       `json:"mode" enum:"production,debug"`
	Status       agent.RunStatus `json:"status" enum:"pending,running,completed,failed,cancelled,hosted"`
	Paused       *Paused         `json:"paused,omitempty" doc:"Set while the run is paused: it begins nothing more until it is resumed"`
	Subject      string          `json:"subject,omitempty" doc:"Who started it" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	Input        json.RawMessage `json:"input,omitempty" example:"\"Where is my order 4711?\""`
	Output       string          `json:"output,omitempty" doc:"The agent's last message" example:"Your order left the warehouse this morning."`
	ErrorKind    tool.Kind       `json:"error_kind,omitempty"`
	Error        string          `json:"error,omitempty"`
	Warning      string          `json:"warning,omitempty" doc:"Why the run waits, for example because no worker polls its task queue"`
	WaitsFor     []string        `json:"waits_for,omitempty" doc:"Ids of the approvals that its calls wait for and, where it is the outermost run, calls of the runs below; only when a single run is requested" example:"[\"01975c2e-7d1a-7c3e-9f00-0000000000e1\"]"`
	Asks         []InputWait     `json:"input_requests,omitempty" doc:"What its calls ask of people and, where it is the outermost run, calls of the runs below; only when a single run is requested"`
	Turns        int             `json:"turns"`
	Parent       *Parent         `json:"parent,omitempty" doc:"The call that started the run; absent if a person or program did"`
	Continues    *Continued      `json:"continues,omitempty" doc:"The run whose transcript it took over; its messages have turn 0"`
	Taint        *Taint          `json:"taint,omitempty" doc:"The first result of an untrusted source that it got; absent where it got none"`
	Depth        int             `json:"depth,omitempty" doc:"Number of its ancestor runs"`
	Calls        int             `json:"calls,omitempty" doc:"Calls made by it and its descendant runs, once it has ended"`
	LastSeq      int64           `json:"last_seq" doc:"Number of its last event"`
	WorkflowID   string          `json:"workflow_id" doc:"In Temporal" example:"t/acme.01975c2e-7d1a-7c3e-9f00-000000000001/support/01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	Tools        []Pin           `json:"tools,omitempty" doc:"The exact versions the run is pinned to"`
	Omitted      []Omission      `json:"omitted,omitempty" doc:"Tools of the agent that could not be used when the run began"`
	Waits        []CallWait      `json:"waits,omitempty" doc:"Why calls waited for others of their turn; only if requested"`
	ModelRetries []ModelRetry    `json:"model_retries,omitempty" doc:"The last attempts that failed without an answer of the model; only if requested"`
	CreatedAt    time.Time       `json:"created_at"`
	StartedAt    *time.Time      `json:"started_at,omitempty"`
	CompletedAt  *time.Time      `json:"completed_at,omitempty"`
}

// PauseRun pauses or resumes a run.
type PauseRun struct {
	Reason string `json:"reason,omitempty" maxLength:"2000" doc:"For people" example:"The warehouse is being counted."`
}

// Paused says that a run is paused.
type Paused struct {
	At     time.Time `json:"at"`
	By     string    `json:"by" doc:"Who paused it" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	Reason string    `json:"reason,omitempty" example:"The warehouse is being counted."`
}

// Parent is the call that started a run.
type Parent struct {
	RunID        string `json:"run_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000c0"`
	InvocationID string `json:"invocation_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	Detached     bool   `json:"detached,omitempty" doc:"The call ended when the run started; the run continues independently"`
}

// Omission is a tool that is not available in a run.
type Omission struct {
	Tool   string    `json:"tool" doc:"The reference, as the agent has it" example:"searchOrders@^1.2"`
	Kind   tool.Kind `json:"kind" example:"conflict"`
	Reason string    `json:"reason" example:"tool \"searchOrders\" is disabled"`
}

// Pin is a tool version that a run is pinned to.
type Pin struct {
	Tool           string              `json:"tool" example:"searchOrders"`
	Version        string              `json:"version" example:"1.2.0"`
	Digest         string              `json:"digest" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Implementation tool.Implementation `json:"implementation_type" example:"http"`
}

// FromRun returns r as the API shows it.
func FromRun(r agent.Run) Run {
	out := Run{
		ID: r.ID, Kind: r.Kind, Agent: r.Agent, AgentID: r.AgentID, AgentVersion: r.AgentVersion,
		Tool: r.Tool, Mode: r.Mode, Status: r.Status, Subject: r.Principal.Subject, Input: r.Input, Output: r.Output,
		ErrorKind: r.ErrorKind, Error: r.Error, Turns: r.Turns, LastSeq: r.LastSeq, WorkflowID: r.WorkflowID,
		Taint: FromTaint(r.Taint),
		Depth: r.Depth, Calls: r.Calls, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
	}
	if r.Paused != nil && !r.Status.Final() {
		out.Paused = &Paused{At: r.Paused.At, By: r.Paused.By, Reason: r.Paused.Reason}
	}
	if r.Continues != nil {
		out.Continues = &Continued{RunID: r.Continues.RunID, Turn: r.Continues.Turn}
	}
	if r.Parent != nil {
		out.Parent = &Parent{RunID: r.Parent.RunID, InvocationID: r.Parent.InvocationID, Detached: r.Parent.Detached}
	}
	if r.Plan != nil {
		for _, p := range r.Plan.Tools {
			out.Tools = append(out.Tools, Pin{
				Tool: p.Slug, Version: p.Version, Digest: p.Digest, Implementation: p.Implementation,
			})
		}
		for _, o := range r.Plan.Omitted {
			out.Omitted = append(out.Omitted, Omission(o))
		}
	}
	return out
}
