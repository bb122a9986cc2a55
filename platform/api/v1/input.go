package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/wait"
)

// InputRequest is a request of an agent for a person's input.
type InputRequest struct {
	Kind         string          `json:"kind" enum:"input_request"`
	ViewID       string          `json:"view_id" doc:"That of the call's invocation" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	RunID        string          `json:"run_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	RootRunID    string          `json:"root_run_id" doc:"The outermost run: run_id where the run is not nested"`
	Title        string          `json:"title" example:"Which seat?"`
	Instructions string          `json:"instructions,omitempty"`
	Fields       json.RawMessage `json:"fields" doc:"The form, as the fields of a tool's form" example:"[{\"key\":\"seat\",\"label\":\"Seat\",\"type\":\"text\",\"required\":true}]"`
	Status       wait.CallStatus `json:"status" enum:"waiting,pending,resolved,expired,cancelled" doc:"waiting: the run waits; pending: it went on, and an answer goes to its inbox"`
	Answer       json.RawMessage `json:"answer,omitempty" doc:"By the keys of the fields" example:"{\"seat\":\"12A\"}"`
	AnsweredBy   string          `json:"answered_by,omitempty"`
	CreatedAt    time.Time       `json:"created_at"`
	AnswerBy     *time.Time      `json:"answer_by,omitempty" doc:"Until when the run waits"`
	ExpiresAt    time.Time       `json:"expires_at" doc:"When no answer is taken any more"`
	AnsweredAt   *time.Time      `json:"answered_at,omitempty"`
}

// NewInputLink asks for a link to the page of a request for input.
type NewInputLink struct {
	ExpiresS int `json:"expires_s,omitempty" minimum:"60" maximum:"604800" default:"86400" doc:"For how long it is good"`
}

// InputLink opens the page on which a person answers a request, without an account.
type InputLink struct {
	ShareURL  string    `json:"share_url" doc:"Who has it can see the request, and answer it once" example:"https://tools.example.com/i/AZdc…"`
	ViewID    string    `json:"view_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	ExpiresAt time.Time `json:"expires_at"`
}

// InputWait is a request for a person's input that a run waits for, with a link to hand on.
type InputWait struct {
	Kind      string     `json:"kind" enum:"input_request"`
	ViewID    string     `json:"view_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	Title     string     `json:"title" example:"Which seat?"`
	ShareURL  string     `json:"share_url,omitempty" doc:"For the person: who has it can see the request, and answer it once. Absent without the permission results.submit" example:"https://tools.example.com/i/AZdc…"`
	ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"Until when the link is good"`
}

// FromInputRequest returns a request as the API shows it.
func FromInputRequest(c wait.Call) InputRequest {
	out := InputRequest{
		Kind: input.Kind, ViewID: c.ID, RunID: c.RunID, RootRunID: c.RootRunID, Status: c.Status,
		AnsweredBy: c.SubmittedBy, CreatedAt: c.CreatedAt, AnswerBy: c.AnswerBy, ExpiresAt: c.ExpiresAt,
		AnsweredAt: c.ResolvedAt, Fields: json.RawMessage("[]"),
	}
	if spec, err := input.Read(c.Arguments); err == nil { // It was checked when it was asked.
		out.Title, out.Instructions, out.Fields = spec.Title, spec.Instructions, fieldsOf(spec.Fields())
	}
	if c.Result != nil && len(c.Result.Structured) > 0 {
		var given struct {
			Answer json.RawMessage `json:"answer"`
		}
		if out.Answer = c.Result.Structured; json.Unmarshal(c.Result.Structured, &given) == nil && given.Answer != nil {
			out.Answer = given.Answer
		}
	}
	return out
}

func fieldsOf(fields []field.Field) json.RawMessage {
	raw, err := json.Marshal(fields)
	if err != nil {
		return json.RawMessage("[]")
	}
	return raw
}
