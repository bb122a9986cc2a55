package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// NewRun asks for a run of an agent.
type NewRun struct {
	Agent   string          `json:"agent" minLength:"1" maxLength:"200" doc:"Slug or id of the agent, optionally with @version"`
	Version string          `json:"version,omitempty" maxLength:"100" doc:"Version or constraint, such as ^1.2; the highest published one when absent"`
	Input   json.RawMessage `json:"input" doc:"What the user says: a string, or any JSON value"`
	Mode    tool.Mode       `json:"mode,omitempty" enum:"production,debug" default:"production" doc:"In debug mode drafts run too"`
}

// Run is the record of a durable execution.
type Run struct {
	ID           string          `json:"id"`
	Kind         agent.RunKind   `json:"kind" enum:"agent,tool_call,host"`
	Agent        string          `json:"agent,omitempty"`
	AgentID      string          `json:"agent_id,omitempty"`
	AgentVersion string          `json:"agent_version,omitempty"`
	Mode         tool.Mode       `json:"mode" enum:"production,debug"`
	Status       agent.RunStatus `json:"status" enum:"pending,running,completed,failed,cancelled,hosted"`
	Subject      string          `json:"subject,omitempty" doc:"Who started it"`
	Input        json.RawMessage `json:"input,omitempty"`
	Output       string          `json:"output,omitempty" doc:"What the agent said last"`
	ErrorKind    tool.Kind       `json:"error_kind,omitempty"`
	Error        string          `json:"error,omitempty"`
	Turns        int             `json:"turns"`
	LastSeq      int64           `json:"last_seq" doc:"Number of its last event"`
	WorkflowID   string          `json:"workflow_id" doc:"In Temporal"`
	Tools        []Pin           `json:"tools,omitempty" doc:"The exact versions the run is pinned to"`
	CreatedAt    time.Time       `json:"created_at"`
	StartedAt    *time.Time      `json:"started_at,omitempty"`
	CompletedAt  *time.Time      `json:"completed_at,omitempty"`
}

// Pin is a tool version that a run is pinned to.
type Pin struct {
	Tool           string              `json:"tool"`
	Version        string              `json:"version"`
	Digest         string              `json:"digest"`
	Implementation tool.Implementation `json:"implementation_type"`
}

// FromRun returns r as the API shows it.
func FromRun(r agent.Run) Run {
	out := Run{
		ID: r.ID, Kind: r.Kind, Agent: r.Agent, AgentID: r.AgentID, AgentVersion: r.AgentVersion,
		Mode: r.Mode, Status: r.Status, Subject: r.Principal.Subject, Input: r.Input, Output: r.Output,
		ErrorKind: r.ErrorKind, Error: r.Error, Turns: r.Turns, LastSeq: r.LastSeq, WorkflowID: r.WorkflowID,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
	}
	if r.Plan != nil {
		for _, p := range r.Plan.Tools {
			out.Tools = append(out.Tools, Pin{Tool: p.Slug, Version: p.Version, Digest: p.Digest, Implementation: p.Implementation})
		}
	}
	return out
}
