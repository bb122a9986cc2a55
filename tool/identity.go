package tool

// CallIdentity identifies one call: for whom it is made, by which run and
// message, and the ids it is known by. It is embedded by everything that
// carries a call ([Call], the payloads in package wire, the ledger's entry and
// [Invocation]) and copied as a whole.
type CallIdentity struct {
	Principal Principal `json:"principal,omitzero"`
	Mode      Mode      `json:"mode,omitempty"`
	RunID     string    `json:"run_id,omitempty"`   // The run that makes the call; may be empty.
	AgentID   string    `json:"agent_id,omitempty"` // Empty outside agent runs.
	// MessageID is the assistant message that made the call, in the turn and at
	// the position that are given; empty outside agent runs.
	MessageID string `json:"message_id,omitempty"`
	Turn      int    `json:"turn,omitempty"`
	Position  int    `json:"position,omitempty"`
	ParentID  string `json:"parent_id,omitempty"` // The invocation that the call is a step of; empty for most.
	CallID    string `json:"call_id,omitempty"`   // As the caller named the call, such as the model's call id.
	// InvocationID is the id of the call's record, a UUIDv7. The ledger keeps the
	// first one it saw for an effect.
	InvocationID string `json:"invocation_id,omitempty"`
	// EffectID is stable over retries and resets, and sent as idempotency key.
	// It is empty for a call that was refused before it could have an effect.
	EffectID string `json:"effect_id,omitempty"`
}

// VersionIdentity identifies one version of one tool.
type VersionIdentity struct {
	ToolID         string         `json:"tool_id,omitempty"` // Empty where a call names no known tool.
	Slug           string         `json:"slug,omitempty"`
	Version        string         `json:"version,omitempty"`
	Digest         string         `json:"digest,omitempty"` // Of the version's content.
	Implementation Implementation `json:"implementation_type,omitempty"`
}

// String returns "slug@version".
func (v VersionIdentity) String() string { return v.Slug + "@" + v.Version }
