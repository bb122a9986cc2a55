package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// PendingCall is a call that is answered from outside.
type PendingCall struct {
	ID               string          `json:"id" doc:"That of the call's invocation" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	RunID            string          `json:"run_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	RootRunID        string          `json:"root_run_id" doc:"The outermost run: run_id where the run is not nested"`
	Turn             int             `json:"turn"`
	CallID           string          `json:"call_id" doc:"As the caller, such as a model, named the call" example:"call_1"`
	Tool             string          `json:"tool" example:"pickSeat"`
	Version          string          `json:"version" example:"1.2.0"`
	AgentID          string          `json:"agent_id,omitempty"`
	Subject          string          `json:"subject,omitempty" doc:"Whom the call is made for"`
	Arguments        json.RawMessage `json:"arguments,omitempty" doc:"Unmasked: they are for who answers"`
	Intent           tool.Intent     `json:"intent,omitempty" enum:"render,action,compute"`
	Shown            bool            `json:"shown" doc:"Whether it is meant for people"`
	RequiresResponse bool            `json:"requires_response" doc:"Whether a result is expected"`
	Async            bool            `json:"is_async" doc:"The caller went on without the result"`
	Status           wait.CallStatus `json:"status" enum:"waiting,pending,resolved,expired,cancelled" doc:"waiting: the caller waits; pending: a result goes to the inbox of the run"`
	Result           *tool.Result    `json:"result,omitempty"`
	Late             bool            `json:"late,omitempty" doc:"The result came after the call had ended without it"`
	SubmittedBy      string          `json:"submitted_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d2"`
	CreatedAt        time.Time       `json:"created_at"`
	AnswerBy         *time.Time      `json:"answer_by,omitempty" doc:"Until when the caller waits"`
	ExpiresAt        time.Time       `json:"expires_at" doc:"When no result is taken any more"`
	ResolvedAt       *time.Time      `json:"resolved_at,omitempty"`
}

// OpenCalls are the calls that take a result.
type OpenCalls struct {
	Items []PendingCall `json:"items" doc:"Newest first"`
	Seen  string        `json:"seen" doc:"Identifies the items: ask with it, to be answered when they are others"`
}

// NewResult is the result of a call.
type NewResult struct {
	Result  json.RawMessage `json:"result" doc:"Any JSON value; a list of content blocks of the types text and json is shown to the model as such. The tool's output schema applies"`
	IsError bool            `json:"is_error,omitempty" doc:"The result says why the call failed; no schema applies"`
}

// NewRunResult is the result of a call of a run.
type NewRunResult struct {
	CallID string `json:"call_id,omitempty" maxLength:"200" doc:"As the caller, such as a model, named the call. Required" example:"call_1"`
	// CamelCallID is what some clients call CallID.
	CamelCallID string `json:"callId,omitempty" maxLength:"200" doc:"Synonym of call_id" example:"call_1"` //nolint:tagliatelle // Theirs.
	NewResult
}

// Submitted is a call with its result.
type Submitted struct {
	PendingCall
	// Repeated says that the call had a result before.
	Repeated bool `json:"repeated" doc:"The call had a result before, which it keeps"`
}

// NewSubmitToken asks for a token that may submit the result of a call.
type NewSubmitToken struct {
	ExpiresS int `json:"expires_s,omitempty" minimum:"1" maximum:"604800" default:"3600" doc:"For how long it is good"`
}

// SubmitTokenPrefix begins the text of every [SubmitToken].
const SubmitTokenPrefix = "tcr_"

// SubmitToken may see one call and submit its result, once: a call keeps its first result.
type SubmitToken struct {
	Token     string    `json:"token" doc:"Send it as Authorization: Bearer"`
	ExpiresAt time.Time `json:"expires_at"`
}

// FromCall returns a call as the API shows it.
func FromCall(c wait.Call) PendingCall {
	return PendingCall{
		ID: c.ID, RunID: c.RunID, RootRunID: c.RootRunID, Turn: c.Turn, CallID: c.CallID, Tool: c.Slug, Version: c.Version,
		AgentID: c.AgentID, Subject: c.Principal.Subject, Arguments: c.Arguments, Intent: c.Intent, Shown: c.Shown,
		RequiresResponse: c.RequiresResponse, Async: c.Async, Status: c.Status, Result: c.Result, Late: c.Late,
		SubmittedBy: c.SubmittedBy, CreatedAt: c.CreatedAt, AnswerBy: c.AnswerBy, ExpiresAt: c.ExpiresAt,
		ResolvedAt: c.ResolvedAt,
	}
}
