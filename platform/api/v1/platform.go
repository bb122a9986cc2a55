package v1

// GlobalTool is a tool of the platform, with what the platform decided about it for every tenant.
type GlobalTool struct {
	Tool

	Override *Override `json:"override,omitempty" doc:"What holds for tenants that decide nothing; nothing means that it is off"`
}

// GlobalToolDetail is a global tool with its versions.
type GlobalToolDetail struct {
	GlobalTool

	Versions []ToolVersion `json:"versions" doc:"Newest first"`
}

// PlatformTenant is a tenant, as operators see it.
type PlatformTenant struct {
	Tenant

	MaxUnfinishedRuns int `json:"max_unfinished_runs,omitempty" doc:"How many runs it may have that have not ended; that of the servers when absent" example:"200"`
}

// NewTenant describes a tenant that is made.
type NewTenant struct {
	Slug string `json:"slug" pattern:"^[a-z0-9][a-z0-9-]{0,62}$" doc:"It is never used again" example:"acme"`
	Name string `json:"name,omitempty" maxLength:"200" doc:"The slug when absent" example:"Acme"`
}
