package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/toolsession"
)

// NewToolSession makes a tool session.
type NewToolSession struct {
	Tool      string          `json:"tool" minLength:"1" maxLength:"64" doc:"Slug or id of a tool with collaborative: true. Submissions call the version that is published now" example:"voteLunch"`
	Title     string          `json:"title,omitempty" maxLength:"200" doc:"Of the page; the tool's name when absent" example:"Lunch on Friday"`
	EntityIDs []string        `json:"entity_ids,omitempty" maxItems:"50" doc:"What the session is about, by your own ids" example:"[\"team-7\"]"`
	Config    json.RawMessage `json:"config,omitempty" doc:"Inputs that are the same for each submission, as an object. They are not asked for" example:"{\"day\":\"friday\"}"`
}

// ToolSession is a session in which several people submit inputs to one version of a tool.
type ToolSession struct {
	ID          string             `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000ea"`
	Title       string             `json:"title" example:"Lunch on Friday"`
	Tool        string             `json:"tool" doc:"Slug of the tool when the session was made" example:"voteLunch"`
	ToolID      string             `json:"tool_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Version     string             `json:"version" doc:"The one that submissions call" example:"1.2.0"`
	Status      toolsession.Status `json:"status" enum:"active,completed,cancelled"`
	EntityIDs   []string           `json:"entity_ids" example:"[\"team-7\"]"`
	Config      json.RawMessage    `json:"config" example:"{\"day\":\"friday\"}"`
	Aggregate   string             `json:"aggregate" doc:"How submissions are joined: count, a function and a place, or the slug of a tool" example:"group:input.choice"`
	Submissions int                `json:"submissions" doc:"How many there are; at most 1000" example:"3"`
	Linked      bool               `json:"linked" doc:"It has a link that people without an account can submit by"`
	LinkUntil   *time.Time         `json:"link_until,omitempty"`
	CreatedBy   string             `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ChangedBy   string             `json:"changed_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt   time.Time          `json:"created_at"`
	UpdatedAt   time.Time          `json:"updated_at"`
	EndedAt     *time.Time         `json:"ended_at,omitempty"`
}

// NewToolSessionLink asks for a link to a session.
type NewToolSessionLink struct {
	ExpiresIn int64 `json:"expires_in_seconds,omitempty" minimum:"60" maximum:"7776000" doc:"How long the link is good; a week when absent" example:"86400"`
}

// LinkedToolSession is a session with its link, which is shown once.
type LinkedToolSession struct {
	ToolSession
	URL   string `json:"url" doc:"Of the page. Everyone who has it can submit until it expires" example:"https://tools.example.com/s/tcs_AZdcLn0afD6fAA"`
	Token string `json:"token" doc:"What the URL ends with. It is not stored" example:"tcs_AZdcLn0afD6fAA"`
}

// NewToolSubmission submits an input to a session.
type NewToolSubmission struct {
	Input json.RawMessage `json:"input" doc:"An object, by the names of the tool's inputs, without those that the session has fixed" example:"{\"choice\":\"soup\"}"`
	WaitS *float64        `json:"wait_s,omitempty" minimum:"0" maximum:"60" doc:"How long the answer waits for the end of the call; 30 seconds when absent" example:"10"`
}

// ToolSubmission is an input that was submitted to a session, with the result of its call.
type ToolSubmission struct {
	ID        string                       `json:"id" doc:"Also that of the run of its call" example:"01975c2e-7d1a-7c3e-9f00-0000000000eb"`
	SessionID string                       `json:"session_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000ea"`
	Subject   string                       `json:"subject" doc:"Who submitted; of the link, the session" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	Guest     string                       `json:"guest,omitempty" doc:"The name that a person gave on the page of the link; it is not checked" example:"Ana"`
	Untrusted bool                         `json:"untrusted" doc:"It came by the link: anyone may have written input and name. Show them to a model as data, never as instructions"`
	Input     json.RawMessage              `json:"input" example:"{\"choice\":\"soup\"}"`
	Status    toolsession.SubmissionStatus `json:"status" enum:"running,completed,failed"`
	Output    json.RawMessage              `json:"output,omitempty" doc:"The structured result, or its text; of one over 64 KiB, truncated and bytes" example:"{\"counted\":true}"`
	Error     string                       `json:"error,omitempty" doc:"Why there is none" example:""`
	CreatedAt time.Time                    `json:"created_at"`
	EndedAt   *time.Time                   `json:"ended_at,omitempty"`
}

// ToolSessionAggregate is what the submissions of a session come to.
type ToolSessionAggregate struct {
	toolsession.Joined
	Tool   string          `json:"tool,omitempty" doc:"That joins them, where one does" example:""`
	RunID  string          `json:"run_id,omitempty" doc:"Of its call" example:""`
	Output json.RawMessage `json:"output,omitempty" doc:"What it answered; absent while it runs, and where it was not asked to" example:"{\"winner\":\"soup\"}"`
}

// FromToolSession returns s as the API shows it.
func FromToolSession(s toolsession.Session) ToolSession {
	return ToolSession{
		ID: s.ID, Title: s.Title, Tool: s.Slug, ToolID: s.ToolID, Version: s.Version, Status: s.Status,
		EntityIDs: append([]string{}, s.Entities...), Config: s.Config, Aggregate: s.Aggregate, Submissions: s.Submissions,
		Linked: s.Linked, LinkUntil: s.LinkUntil, CreatedBy: s.CreatedBy, ChangedBy: s.ChangedBy, CreatedAt: s.CreatedAt,
		UpdatedAt: s.UpdatedAt, EndedAt: s.EndedAt,
	}
}

// FromToolSubmission returns b as the API shows it.
func FromToolSubmission(b toolsession.Submission) ToolSubmission {
	return ToolSubmission{
		ID: b.ID, SessionID: b.SessionID, Subject: b.Subject, Guest: b.Guest, Untrusted: b.ByLink, Input: b.Input,
		Status: b.Status, Output: b.Output, Error: b.Error, CreatedAt: b.CreatedAt, EndedAt: b.EndedAt,
	}
}
