package v1

import "encoding/json"

// Apply requests that definitions of tools, agents, MCP servers, artifacts, pipelines, profiles
// and toolsets be applied: all of them, or with DryRun none.
type Apply struct {
	Definitions []json.RawMessage `json:"definitions" nullable:"false" minItems:"1" maxItems:"1000" doc:"Definitions of tools, agents, MCP servers, artifacts, pipelines, profiles and toolsets; a document may hold several servers" example:"[{\"kind\":\"tool\",\"slug\":\"searchOrders\",\"implementation_type\":\"internal\"}]"`
	DryRun      bool              `json:"dry_run,omitempty" doc:"Only check, and report what would change"`
}

// Action is what applying a definition did.
type Action string

// Actions.
const (
	Created   Action = "created"
	Updated   Action = "updated"
	Unchanged Action = "unchanged"
	Failed    Action = "failed"
	Skipped   Action = "skipped" // Not applied because another definition is invalid.
)

// Applied reports what applying did with each definition, in their order.
type Applied struct {
	DryRun bool          `json:"dry_run,omitempty"`
	Failed int           `json:"failed" doc:"How many definitions could not be applied"`
	Items  []AppliedItem `json:"items"`
}

// AppliedItem reports what applying did with one definition.
type AppliedItem struct {
	Index     int      `json:"index" doc:"Place in the request"`
	Kind      string   `json:"kind,omitempty" enum:"tool,agent,mcp_server,artifact,pipeline,profile,toolset"`
	Slug      string   `json:"slug,omitempty" example:"searchOrders"`
	ID        string   `json:"id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Version   string   `json:"version,omitempty" example:"1.2.0"`
	Action    Action   `json:"action" enum:"created,updated,unchanged,failed,skipped"`
	Published bool     `json:"published,omitempty" doc:"Whether this published a version"`
	Warnings  []string `json:"warnings,omitempty"`
	Error     *Problem `json:"error,omitempty" doc:"Why it failed; its path is within the definition"`
}
