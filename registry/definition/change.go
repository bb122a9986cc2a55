package definition

// Action is the effect of applying a definition.
type Action string

// Actions.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged"
)

// Change is the result of applying a [Definition], or of checking what applying
// it would change.
type Change struct {
	Kind      string   `json:"kind"` // As [Definition.Kind] has it.
	Slug      string   `json:"slug"`
	ID        string   `json:"id,omitempty"`
	Version   string   `json:"version"` // Number of the head; empty for a server.
	Action    Action   `json:"action"`
	Published bool     `json:"published,omitempty"` // Whether the change published a version.
	Warnings  []string `json:"warnings,omitempty"`
}
