package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/tool"
)

// ProfileRestrictions is what a profile adds to what a tool requires. What is absent changes nothing.
type ProfileRestrictions struct {
	Description        string                `json:"description,omitempty" maxLength:"1000" doc:"For people" example:"Until the audit"`
	Denied             bool                  `json:"denied,omitempty" doc:"Refuses every call" example:"false"`
	RequiresApproval   bool                  `json:"requires_approval,omitempty" doc:"Asks a person at every call" example:"true"`
	PermissionPolicy   tool.PermissionPolicy `json:"permission_policy,omitempty" maxLength:"20" doc:"always_ask, or absent: a profile only raises" example:"always_ask"`
	EgressClass        tool.Egress           `json:"egress_class,omitempty" maxLength:"20" doc:"What a call is treated as, if the tool's own class is less: read_only or write" example:"write"`
	RequiredPermission string                `json:"required_permission,omitempty" maxLength:"200" doc:"In addition to the tool's own" example:"orders.read"`
	Rate               *Rate                 `json:"rate,omitempty" doc:"How many calls begin in a time; no limit when absent"`
	MaxConcurrency     int                   `json:"max_concurrency,omitempty" minimum:"0" maximum:"1000" doc:"How many calls run at once; no limit when absent" example:"2"`
}

// Rate limits how many calls begin in a time, by a token bucket.
type Rate struct {
	Calls int             `json:"calls" minimum:"1" maximum:"1000000" example:"10"`
	Per   tool.RatePeriod `json:"per" enum:"second,minute,hour,day" example:"minute"`
	Burst int             `json:"burst,omitempty" minimum:"0" maximum:"1000000" doc:"How many may begin at once, after a rest; as calls when absent" example:"5"`
}

// NewProfile is a named set of restrictions.
type NewProfile struct {
	Name string `json:"name" minLength:"1" maxLength:"63" doc:"Small letters, digits, - and _" example:"careful"`
	ProfileRestrictions
}

// Profile is a named set of restrictions, and how many assignments use it.
type Profile struct {
	ID   string `json:"id"`
	Name string `json:"name" example:"careful"`
	ProfileRestrictions

	Assignments int       `json:"assignments" doc:"How many use it" example:"2"`
	Revision    int64     `json:"revision" example:"3"`
	ChangedBy   string    `json:"changed_by" doc:"Subject" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Profile returns the profile that is asked for, without its tenant.
func (r ProfileRestrictions) Profile(name string) profile.Profile {
	p := profile.Profile{
		Profile: tool.Profile{
			Name: name, Denied: r.Denied, RequiresApproval: r.RequiresApproval, PermissionPolicy: r.PermissionPolicy,
			EgressClass: r.EgressClass, RequiredPermission: r.RequiredPermission, MaxConcurrency: r.MaxConcurrency,
		},
		Description: r.Description,
	}
	if r.Rate != nil {
		p.Rate = &tool.Rate{Calls: r.Rate.Calls, Per: r.Rate.Per, Burst: r.Rate.Burst}
	}
	return p
}

// FromProfile returns a profile as the API shows it.
func FromProfile(p profile.Profile) Profile {
	out := Profile{
		ID: p.ID, Name: p.Name, Assignments: p.Assignments, Revision: p.Revision, ChangedBy: p.ChangedBy,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, ProfileRestrictions: ProfileRestrictions{
			Description: p.Description, Denied: p.Denied, RequiresApproval: p.RequiresApproval,
			PermissionPolicy: p.PermissionPolicy, EgressClass: p.EgressClass, RequiredPermission: p.RequiredPermission,
			MaxConcurrency: p.MaxConcurrency,
		},
	}
	if p.Rate != nil {
		out.Rate = &Rate{Calls: p.Rate.Calls, Per: p.Rate.Per, Burst: p.Rate.Burst}
	}
	return out
}

// NewAssignment binds a tool to an agent, or a profile to every call of a tool.
type NewAssignment struct {
	Tool    string `json:"tool" minLength:"1" maxLength:"64" doc:"Slug or id" example:"readInvoice"`
	Agent   string `json:"agent,omitempty" maxLength:"64" doc:"Slug or id: it has the tool from its next run on, if its definition does not name it. Absent for every agent and caller" example:"support"`
	Profile string `json:"profile,omitempty" maxLength:"63" doc:"Name: what it restricts applies to these calls. Absent for no restriction" example:"careful"`
}

// Assignment is a tool that is bound to an agent, or a profile that applies to every call of a tool.
type Assignment struct {
	ID        string    `json:"id"`
	Tool      string    `json:"tool" doc:"Slug" example:"readInvoice"`
	ToolID    string    `json:"tool_id"`
	Agent     string    `json:"agent,omitempty" doc:"Slug; absent for every agent and caller" example:"support"`
	AgentID   string    `json:"agent_id,omitempty"`
	Profile   string    `json:"profile,omitempty" doc:"Name" example:"careful"`
	ChangedBy string    `json:"changed_by" doc:"Subject" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ChangedAt time.Time `json:"changed_at"`
}

// FromAssignment returns an assignment as the API shows it.
func FromAssignment(a profile.Assignment) Assignment {
	return Assignment{
		ID: a.ID, Tool: a.Tool, ToolID: a.ToolID, Agent: a.Agent, AgentID: a.AgentID, Profile: a.Profile,
		ChangedBy: a.ChangedBy, ChangedAt: a.ChangedAt,
	}
}
