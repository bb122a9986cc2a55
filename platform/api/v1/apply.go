package v1

import "encoding/json"

// Apply requests that definitions of tools, agents, MCP servers, artifacts, pipelines, profiles
// and toolsets be applied: all of them, or with DryRun none.
type Apply struct {
	Definitions []json.RawMessage `json:"definitions" nullable:"false" minItems:"1" maxItems:"1000" doc:"Definitions of tools, agents, MCP servers, artifacts, pipelines, profiles and toolsets; a document may hold several servers" example:"[{\"kind\":\"tool\",\"slug\":\"searchOrders\",\"implementation_type\":\"internal\"}]"`
	DryRun      bool              `json:"dry_run,omitempty" doc:"Only check, and report what would change"`
	Set         string            `json:"set,omitempty" pattern:"^[a-z0-9][a-z0-9._-]{0,62}$" doc:"Name of the set that the definitions are all of. What it had before, and has no longer, is listed" example:"shop"`
	Prune       bool              `json:"prune,omitempty" doc:"Take away what the set no longer has; needs its name"`
	Strict      bool              `json:"strict,omitempty" doc:"Refuse definitions of published tools that a check finds weak points in"`
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
	Failed int           `json:"failed" doc:"How many definitions could not be applied, and how much could not be taken away"`
	Items  []AppliedItem `json:"items"`
	Gone   []GoneItem    `json:"gone,omitempty" doc:"What the set no longer has"`
}

// GoneAction is what became of something that its set of definitions no longer has.
type GoneAction string

// What becomes of what a set no longer has. Its record stays in each case.
const (
	Left       GoneAction = "left"       // Nothing: pruning was not asked for.
	Archived   GoneAction = "archived"   // A tool; its slug stays taken.
	Disabled   GoneAction = "disabled"   // An agent.
	Deprecated GoneAction = "deprecated" // An artifact, which tools outside of the set may run.
	Detached   GoneAction = "detached"   // An MCP server.
	Deleted    GoneAction = "deleted"    // A pipeline, a profile, a toolset.
	Kept       GoneAction = "failed"     // It could not be taken away, as the error says.
)

// GoneItem is what a set of definitions had, and has no longer.
type GoneItem struct {
	Kind   string     `json:"kind" enum:"tool,agent,mcp_server,artifact,pipeline,profile,toolset"`
	Slug   string     `json:"slug" example:"searchOrders"`
	ID     string     `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Action GoneAction `json:"action" enum:"left,archived,disabled,deprecated,detached,deleted,failed"`
	Error  *Problem   `json:"error,omitempty" doc:"Why it could not be taken away"`
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
