package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// EventSpaceMessage is the name of the events of a space's stream: a message is new, or has changed.
const EventSpaceMessage tool.EventType = "space.message"

// NewSpace makes a space.
type NewSpace struct {
	Slug        string   `json:"slug" minLength:"1" maxLength:"64" doc:"Unique in the tenant; never changed" example:"launch"`
	Name        string   `json:"name,omitempty" maxLength:"200" doc:"The slug when absent" example:"Launch"`
	Description string   `json:"description,omitempty" maxLength:"2000" doc:"What it is for; agents read it" example:"Getting the product out"`
	MaxHops     *int     `json:"max_hops,omitempty" minimum:"0" maximum:"50" doc:"How many messages of agents in a row wake other agents; 4 when absent, 0 for none" example:"4"`
	Members     []string `json:"members,omitempty" nullable:"false" maxItems:"100" doc:"As agent:<slug> or person:<subject>; whoever makes the space is one" example:"[\"agent:supportDesk\"]"`
}

// SpaceChange changes a space. Absent members are left unchanged.
type SpaceChange struct {
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200"`
	Description *string `json:"description,omitempty" maxLength:"2000"`
	MaxHops     *int    `json:"max_hops,omitempty" minimum:"0" maximum:"50"`
	Archived    *bool   `json:"archived,omitempty" doc:"Nothing is posted to an archived space, and no agent enters it"`
}

// Space is where people and agents talk.
type Space struct {
	ID          string     `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f1"`
	Slug        string     `json:"slug" example:"launch"`
	Name        string     `json:"name" example:"Launch"`
	Description string     `json:"description,omitempty"`
	MaxHops     int        `json:"max_hops" doc:"How many messages of agents in a row wake other agents" example:"4"`
	LastSeq     int64      `json:"last_seq" doc:"Number of its last change" example:"17"`
	ArchivedAt  *time.Time `json:"archived_at,omitempty"`
	Revision    int64      `json:"revision" example:"1"`
	CreatedBy   string     `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
}

// FromSpace returns s as the API shows it.
func FromSpace(s space.Space) Space {
	return Space{
		ID: s.ID, Slug: s.Slug, Name: s.Name, Description: s.Description, MaxHops: s.MaxHops, LastSeq: s.LastSeq,
		ArchivedAt: s.ArchivedAt, Revision: s.Revision, CreatedBy: s.CreatedBy, CreatedAt: s.CreatedAt,
		UpdatedAt: s.UpdatedAt,
	}
}

// NewSpaceMember adds a member to a space.
type NewSpaceMember struct {
	Member string `json:"member" minLength:"1" maxLength:"210" doc:"As agent:<slug> or person:<subject>" example:"agent:supportDesk"`
}

// SpaceMember is an agent or a person of a space.
type SpaceMember struct {
	Member    string           `json:"member" example:"agent:supportDesk"`
	Kind      space.MemberKind `json:"kind" enum:"agent,person"`
	Name      string           `json:"name" doc:"Slug of the agent, or subject of the person" example:"supportDesk"`
	AddedBy   string           `json:"added_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt time.Time        `json:"created_at"`
}

// FromMembership returns m as the API shows it.
func FromMembership(m space.Membership) SpaceMember {
	return SpaceMember{Member: m.String(), Kind: m.Kind, Name: m.Name, AddedBy: m.AddedBy, CreatedAt: m.CreatedAt}
}

// Note is a goal, a memory or a plan that an agent keeps.
type Note struct {
	Kind      space.NoteKind `json:"kind" enum:"goal,memory,plan"`
	Key       string         `json:"key" doc:"Unique for the agent and the kind; the agent chose it" example:"seat"`
	Text      string         `json:"text" example:"Prefers the aisle."`
	Done      bool           `json:"done" doc:"Of a goal or a plan"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
}

// FromNote returns n as the API shows it.
func FromNote(n space.Note) Note {
	return Note{Kind: n.Kind, Key: n.Key, Text: n.Text, Done: n.Done, CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt}
}

// NewSpaceMessage posts a text to a space.
type NewSpaceMessage struct {
	Text string `json:"text" minLength:"1" maxLength:"16384" example:"Book a hotel in Tokyo, please."`
}

// SpacePosted is a text that was posted.
type SpacePosted struct {
	SpaceMessage
	Woken int `json:"woken" doc:"How many agents it wakes" example:"1"`
}

// SpaceMessage is what was said in a space, or a visible call that was made in it.
type SpaceMessage struct {
	ID         string              `json:"id" doc:"Of a call: that of its invocation, pending tool call and approval" example:"01975c2e-7d1a-7c3e-9f00-0000000000f2"`
	Seq        int64               `json:"seq" doc:"Its place in the space" example:"16"`
	ChangedSeq int64               `json:"changed_seq" doc:"Number of its last change, in the same count" example:"17"`
	Kind       space.MessageKind   `json:"kind" enum:"text,tool" doc:"tool: a visible call, which cannot be replied to and wakes nobody"`
	From       string              `json:"from" example:"agent:supportDesk"`
	RunID      string              `json:"run_id,omitempty" doc:"Of an agent; the message outlives the run"`
	Hops       int                 `json:"hops,omitempty" doc:"Messages of agents in a row, up to this one"`
	Text       string              `json:"text,omitempty"`
	NotWoken   string              `json:"not_woken,omitempty" doc:"Why it woke nobody, where it could have"`
	Status     space.MessageStatus `json:"status" enum:"running,requires_action,complete,failed" doc:"Of a call: requires_action while it waits for somebody. A text is complete"`
	Call       *SpaceCall          `json:"call,omitempty"`
	CreatedAt  time.Time           `json:"created_at"`
	UpdatedAt  time.Time           `json:"updated_at"`
}

// SpaceCall is what the message of a visible call holds. User interfaces choose by the name of the
// tool how to draw it.
type SpaceCall struct {
	Tool      string          `json:"tool" example:"confirmAction"`
	Version   string          `json:"version,omitempty" example:"1.0.0"`
	CallID    string          `json:"call_id" doc:"As the model named it" example:"call_1"`
	Input     json.RawMessage `json:"input,omitempty" doc:"Its arguments, or truncated and bytes for more than 64 KiB"`
	Output    json.RawMessage `json:"output,omitempty" doc:"Its result: content, and structured"`
	ErrorKind tool.Kind       `json:"error_kind,omitempty" doc:"Why there is none"`
	Error     string          `json:"error,omitempty"`
	ExpiresAt *time.Time      `json:"expires_at,omitempty" doc:"Until when an answer is taken"`
}

// FromSpaceMessage returns m as the API shows it.
func FromSpaceMessage(m space.Message) SpaceMessage {
	out := SpaceMessage{
		ID: m.ID, Seq: m.Seq, ChangedSeq: m.ChangedSeq, Kind: m.Kind, From: m.From.String(), RunID: m.RunID, Hops: m.Hops,
		Text: m.Text, NotWoken: m.NotWoken, Status: m.Status, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
	if c := m.Call; c != nil {
		out.Call = &SpaceCall{
			Tool: c.Tool, Version: c.Version, CallID: c.CallID, Input: c.Input, Output: c.Output, ErrorKind: c.Kind,
			Error: c.Error, ExpiresAt: c.ExpiresAt,
		}
	}
	return out
}
