package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/wait"
)

// Grant is a standing grant: the approval of calls that are to come, within limits.
type Grant struct {
	ID        string           `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f1"`
	Covers    string           `json:"covers" doc:"What it is for, in one sentence"`
	Tool      string           `json:"tool" example:"refundOrder"`
	Version   string           `json:"version,omitempty" doc:"Constraint; every version when absent" example:"^1.2"`
	Agent     string           `json:"agent,omitempty" doc:"Slug; every caller when absent"`
	Requester string           `json:"requester,omitempty" doc:"Whom the run acts for; every subject when absent"`
	When      string           `json:"when,omitempty" doc:"CEL over input and principal; all arguments when absent"`
	Uses      int              `json:"uses"`
	Used      int              `json:"used"`
	Reason    string           `json:"reason,omitempty"`
	Status    wait.GrantStatus `json:"status" enum:"active,used_up,expired,revoked"`
	CreatedBy string           `json:"created_by" doc:"Whose approval it is: it counts while their key may decide, and never for runs that they started"`
	CreatedAt time.Time        `json:"created_at"`
	ExpiresAt time.Time        `json:"expires_at"`
	RevokedAt *time.Time       `json:"revoked_at,omitempty"`
	RevokedBy string           `json:"revoked_by,omitempty"`
}

// NewGrant makes a standing grant.
type NewGrant struct {
	Tool      string `json:"tool" minLength:"1" maxLength:"64" example:"refundOrder"`
	Version   string `json:"version,omitempty" maxLength:"64" doc:"Constraint; every version when absent" example:"^1.2"`
	Agent     string `json:"agent,omitempty" maxLength:"64" doc:"Slug; every caller when absent" example:"supportDesk"`
	Requester string `json:"requester,omitempty" maxLength:"200" doc:"Whom the run acts for; every subject when absent" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d2"`
	When      string `json:"when,omitempty" maxLength:"4096" doc:"CEL over input and principal, as in a confirmation; all arguments when absent" example:"input.amount <= 50"`
	Uses      int    `json:"uses" minimum:"1" maximum:"10000" example:"20"`
	ExpiresS  int    `json:"expires_s" minimum:"60" maximum:"7776000" doc:"Seconds from now, at most 90 days" example:"604800"`
	Reason    string `json:"reason,omitempty" maxLength:"2000" doc:"For the record"`
}

// FromGrant returns a grant as it is answered.
func FromGrant(g wait.Grant) Grant {
	return Grant{
		ID: g.ID, Covers: g.Covers(), Tool: g.Tool, Version: g.Version, Agent: g.Agent, Requester: g.Requester,
		When: g.Condition, Uses: g.Uses, Used: g.Used, Reason: g.Reason, Status: g.Status(), CreatedBy: g.CreatedBy,
		CreatedAt: g.CreatedAt, ExpiresAt: g.ExpiresAt, RevokedAt: g.RevokedAt, RevokedBy: g.RevokedBy,
	}
}
