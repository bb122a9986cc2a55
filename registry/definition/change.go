package definition

// Action is what was done to a tool, an agent or a server.
type Action string

// Actions.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged"
)

// Change is what applying a [Definition] did, or checking it says that applying would do.
type Change struct {
	Kind      string   `json:"kind"` // "tool", "agent", "mcp_server", "artifact" or "pipeline".
	Slug      string   `json:"slug"`
	ID        string   `json:"id,omitempty"`
	Version   string   `json:"version"` // Number of the head; empty for a server.
	Action    Action   `json:"action"`
	Published bool     `json:"published,omitempty"` // Whether a version became published by this.
	Warnings  []string `json:"warnings,omitempty"`
}
