package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/registry/manage"
	"github.com/toolcrib/toolcrib/wait"
)

// Approval is a request to approve one call.
type Approval struct {
	ID          string          `json:"id" doc:"That of the call's invocation" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	RunID       string          `json:"run_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	RootRunID   string          `json:"root_run_id" doc:"The outermost run: run_id where the run is not nested"`
	Turn        int             `json:"turn"`
	Batch       string          `json:"batch" doc:"The same for the calls of one turn, which may be decided together" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1.1"`
	CallID      string          `json:"call_id" example:"call_1"`
	Tool        string          `json:"tool" example:"refundOrder"`
	Version     string          `json:"version" example:"1.2.0"`
	Agent       string          `json:"agent,omitempty" example:"supportDesk"`
	Requester   string          `json:"requester" doc:"Whom the run acts for; never decides"`
	Arguments   json.RawMessage `json:"arguments,omitempty" doc:"As the caller gave them"`
	Edited      json.RawMessage `json:"edited,omitempty" doc:"As they were approved, where those are others"`
	Credential  string          `json:"credential,omitempty" doc:"Name of the credential that the call uses"`
	Host        string          `json:"host,omitempty" doc:"That the call is sent to" example:"api.example.com"`
	Own         bool            `json:"own,omitempty" doc:"Whether who made the call may confirm it, with approvals.confirm: they called the tool directly, and only the tool asks"`
	Binding     string          `json:"binding" doc:"Digest of version, arguments, credential and host: what is approved. Send it back as seen"`
	Message     string          `json:"message" example:"Approve a call of refundOrder@1.2.0 by agent supportDesk?"`
	Reasons     []string        `json:"reasons,omitempty" doc:"Why an approval is needed"`
	Round       int             `json:"round" doc:"Counted from 1; the next where what is asked for changed after it was approved"`
	Needed      int             `json:"needed" doc:"How many approvals are needed; one rejection rejects"`
	Permission  string          `json:"permission" doc:"What one must be permitted to decide" example:"approvals.decide"`
	EscalatesAt *time.Time      `json:"escalates_at,omitempty" doc:"When those with escalate_to may decide too; absent for never"`
	EscalateTo  string          `json:"escalate_to,omitempty" doc:"The permission of those others" example:"approvals.escalated"`
	Escalated   bool            `json:"escalated,omitempty" doc:"Whether they may decide now"`
	Decidable   bool            `json:"decidable" doc:"Whether who asks for it may decide it now"`
	Because     string          `json:"because,omitempty" doc:"Why not" example:"who started the run does not decide on its calls: another person with the permission approvals.decide has to"`
	Change      *ToolChange     `json:"change,omitempty" doc:"What a pending call of manageTools changes; absent for other calls, and in lists"`
	Status      wait.Status     `json:"status" enum:"pending,approved,rejected,expired,cancelled"`
	Reason      string          `json:"reason,omitempty" doc:"Of the decision that ended it"`
	Decisions   []Decision      `json:"decisions,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	ExpiresAt   time.Time       `json:"expires_at"`
	EndedAt     *time.Time      `json:"ended_at,omitempty"`
}

// Decision is what one person said of a request.
type Decision struct {
	Subject string          `json:"subject" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d2"`
	Approve bool            `json:"approve"`
	Reason  string          `json:"reason,omitempty"`
	Edited  json.RawMessage `json:"edited,omitempty" doc:"Arguments that were approved instead"`
	GrantID string          `json:"grant_id,omitempty" doc:"The standing grant that decided for the subject; absent for a person"`
	At      time.Time       `json:"at"`
}

// ToolChange is what a call of manageTools changes. The call names the revision of the tool, so it is
// refused if the tool is changed in the meantime.
type ToolChange struct {
	Action  string          `json:"action" enum:"create,update,publish,deprecate,disable,enable,delete" example:"update"`
	Tool    string          `json:"tool" example:"searchOrders"`
	Before  json.RawMessage `json:"before,omitempty" doc:"The definition as it is; absent for a new tool"`
	After   json.RawMessage `json:"after,omitempty" doc:"The definition as it will be; absent for a tool that is deleted"`
	Changes []Change        `json:"changes"`
	Refusal string          `json:"refusal,omitempty" doc:"Why the call will be refused, as far as that can be seen now"`
}

// FromPreview returns a preview as the API shows it.
func FromPreview(p *manage.Preview) *ToolChange {
	if p == nil {
		return nil
	}
	out := &ToolChange{
		Action: string(p.Action), Tool: p.Slug, Before: p.Before, After: p.After, Refusal: p.Refusal,
		Changes: make([]Change, len(p.Changes)),
	}
	for i, c := range p.Changes {
		out.Changes[i] = Change{Path: c.Path, Bump: c.Bump.String(), Reason: c.Reason}
	}
	return out
}

// Approve approves a request.
type Approve struct {
	Reason    string          `json:"reason,omitempty" maxLength:"2000"`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"Approve the call with these arguments instead; the tool's input schema applies"`
	Seen      string          `json:"seen,omitempty" maxLength:"64" doc:"The binding of what you saw: a conflict if something else is asked by now"`
}

// Reject rejects a request.
type Reject struct {
	Reason string `json:"reason,omitempty" maxLength:"2000" doc:"For the model and the record" example:"The order was refunded already."`
	Seen   string `json:"seen,omitempty" maxLength:"64" doc:"As in approve"`
}

// Decide decides several requests, each on its own.
type Decide struct {
	Decisions []DecideOne `json:"decisions" minItems:"1" maxItems:"100" doc:"One for each request"`
}

// DecideOne is a decision on one of several requests.
type DecideOne struct {
	ID        string          `json:"id" maxLength:"64"`
	Approve   bool            `json:"approve"`
	Reason    string          `json:"reason,omitempty" maxLength:"2000"`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"As in approve"`
	Seen      string          `json:"seen,omitempty" maxLength:"64" doc:"As in approve"`
}

// Decided is what became of a decision: the request, or why it was not made.
type Decided struct {
	ID       string    `json:"id"`
	Approval *Approval `json:"approval,omitempty"`
	Error    *Problem  `json:"error,omitempty"`
}

// FromApproval returns a request as the API shows it.
func FromApproval(a wait.Approval) Approval {
	out := Approval{
		ID: a.ID, RunID: a.RunID, RootRunID: a.RootRunID, Turn: a.Turn, Batch: a.Batch().String(), CallID: a.CallID,
		Tool: a.Tool, Version: a.Version, Agent: a.Agent, Requester: a.Requester, Arguments: a.Arguments, Edited: a.Edited,
		Credential: a.Credential, Host: a.Host, Own: a.Own, Binding: a.Binding, Message: a.Message, Reasons: a.Reasons,
		Round: a.Round, Needed: a.Needed, Permission: a.Permission, Status: a.Status, Reason: a.Reason,
		CreatedAt: a.CreatedAt, ExpiresAt: a.ExpiresAt, EndedAt: a.EndedAt,
		EscalatesAt: a.EscalatesAt, EscalateTo: a.EscalateTo, Escalated: a.Escalated,
	}
	for _, d := range a.Decisions {
		out.Decisions = append(out.Decisions, Decision(d))
	}
	return out
}
