package wire

import (
	"cmp"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// InvokeInput asks for one call to be run, and is what Admit and Settle get
// too. It is everything they need besides the content of the pinned version.
type InvokeInput struct {
	Principal   tool.Principal   `json:"principal"`
	Mode        tool.Mode        `json:"mode"`
	RunID       string           `json:"run_id"`
	AgentID     string           `json:"agent_id,omitempty"`
	MessageID   string           `json:"message_id,omitempty"` // The assistant message that asked.
	Turn        int              `json:"turn,omitempty"`
	Position    int              `json:"position,omitempty"`
	Pin         agent.Pin        `json:"pin"`
	Call        Call             `json:"call"`
	EffectID    string           `json:"effect_id,omitempty"`
	Fence       int64            `json:"fence,omitempty"`       // From Admit; zero when Invoke admits by itself.
	Egress      tool.Egress      `json:"egress,omitempty"`      // From Admit.
	EgressRules tool.EgressRules `json:"egress_rules,omitzero"` // From Admit.
	Full        bool             `json:"full,omitempty"`        // Whether the whole result is wanted, or a preview.
	Tried       int              `json:"tried,omitempty"`       // Attempts made in the fast lane, before this activity.
	Test        *Test            `json:"test,omitempty"`        // Set when the call is a test of the tool.
}

// AdmitOutput is the admission of a call that must not be repeated.
type AdmitOutput struct {
	Fence       int64            `json:"fence"`
	Egress      tool.Egress      `json:"egress,omitempty"`
	EgressRules tool.EgressRules `json:"egress_rules,omitzero"`
	// Done is set when the effect was settled before: the call is over.
	Done *InvokeOutput `json:"done,omitempty"`
}

// InvokeOutput is how a call ended.
type InvokeOutput struct {
	InvocationID string                `json:"invocation_id"`
	Status       tool.InvocationStatus `json:"status"`
	IsError      bool                  `json:"is_error,omitempty"`
	Preview      string                `json:"preview,omitempty"` // The beginning of the answer.
	Result       *tool.Result          `json:"result,omitempty"`  // When the whole was wanted and the tool answered.
	Kind         tool.Kind             `json:"kind,omitempty"`
	Msg          string                `json:"msg,omitempty"`
}

// SettleInput closes a call that ended outside its Invoke.
type SettleInput struct {
	Invoke InvokeInput           `json:"invoke"`
	Status tool.InvocationStatus `json:"status"`
	Kind   tool.Kind             `json:"kind"`
	Msg    string                `json:"msg"`
}

// Entry returns the call as the ledger knows it.
func (in *InvokeInput) Entry() ledger.Entry {
	slug := cmp.Or(in.Pin.Slug, in.Call.Slug, in.Call.Name)
	return ledger.Entry{
		EffectID: in.EffectID, InvocationID: in.Call.InvocationID, Principal: in.Principal,
		RunID: in.RunID, AgentID: in.AgentID, Turn: in.Turn, Position: in.Position,
		CallID: in.Call.CallID, ToolID: in.Pin.ToolID, Slug: slug,
		Version: in.Pin.Version, Digest: in.Pin.Digest, Implementation: in.Pin.Implementation,
		Mode: in.Mode, MessageID: in.MessageID, Arguments: in.Call.Arguments,
		ArgumentsStored: in.Call.Stored, Receipt: in.Call.Receipt,
	}
}
