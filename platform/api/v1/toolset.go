package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/toolset"
)

// ToolsetDefinition is a choice of tools that MCP clients are offered under one address.
type ToolsetDefinition struct {
	Slug         string          `json:"slug" pattern:"^[a-z][a-z0-9-]{0,31}$" doc:"Of the address, /mcp/{slug}; it cannot be changed" example:"support"`
	Name         string          `json:"name,omitempty" maxLength:"200" doc:"The slug when absent" example:"Support desk"`
	Instructions string          `json:"instructions,omitempty" maxLength:"4096" doc:"What clients may show their models, before those of the server" example:"Look orders up before you refund them."`
	Catalog      toolset.Catalog `json:"catalog,omitempty" enum:"auto,all,search" doc:"How tools are listed; an address that says otherwise wins. auto when absent" example:"auto"`
	Status       toolset.Status  `json:"status,omitempty" enum:"active,disabled" doc:"For clients, a disabled toolset does not exist. active when absent" example:"active"`
	Tools        []ToolsetTool   `json:"tools,omitempty" maxItems:"1000"`
	Servers      []string        `json:"servers,omitempty" maxItems:"50" doc:"Slugs of attached MCP servers: all tools that were, or will be, imported from them" example:"[\"files\"]"`
	Revision     int64           `json:"revision,omitempty" doc:"Unless zero, the change fails if the toolset has another revision, as with If-Match" example:"0"`
}

// ToolsetTool is a tool of a toolset.
type ToolsetTool struct {
	Tool    string `json:"tool" minLength:"1" maxLength:"64" doc:"Slug or id" example:"getOrder"`
	Version string `json:"version,omitempty" maxLength:"128" doc:"Constraint that versions must meet; the newest when absent" example:"^1.2"`
	ID      string `json:"id,omitempty" readOnly:"true" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
}

// Toolset is a choice of tools that MCP clients are offered under one address.
type Toolset struct {
	ID           string          `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000e7"`
	Slug         string          `json:"slug" example:"support"`
	Name         string          `json:"name" example:"Support desk"`
	Path         string          `json:"path" doc:"Where clients find it at the server" example:"/mcp/support"`
	Instructions string          `json:"instructions,omitempty" example:"Look orders up before you refund them."`
	Catalog      toolset.Catalog `json:"catalog" enum:"auto,all,search"`
	Status       toolset.Status  `json:"status" enum:"active,disabled"`
	Tools        []ToolsetTool   `json:"tools"`
	Servers      []string        `json:"servers" example:"[\"files\"]"`
	Revision     int64           `json:"revision" example:"3"`
	CreatedBy    string          `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ChangedBy    string          `json:"changed_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`
}

// DeletedToolset reports what deleting a toolset did.
type DeletedToolset struct {
	Toolset     string `json:"toolset" example:"support"`
	RevokedKeys int    `json:"revoked_keys" doc:"How many keys were bound to it" example:"1"`
}

// Toolset returns the toolset that is asked for.
func (d ToolsetDefinition) Toolset() toolset.Toolset {
	out := toolset.Toolset{
		Slug: d.Slug, Name: d.Name, Instructions: d.Instructions, Catalog: d.Catalog, Status: d.Status,
	}
	for _, t := range d.Tools {
		out.Tools = append(out.Tools, toolset.Tool{Name: t.Tool, Version: t.Version})
	}
	for _, s := range d.Servers {
		out.Servers = append(out.Servers, toolset.Server{Name: s})
	}
	return out
}

// FromToolset returns a toolset as the API shows it, at the path of the MCP server.
func FromToolset(s toolset.Toolset, path string) Toolset {
	out := Toolset{
		ID: s.ID, Slug: s.Slug, Name: s.Name, Path: path, Instructions: s.Instructions, Catalog: s.Catalog,
		Status: s.Status, Tools: make([]ToolsetTool, len(s.Tools)), Servers: make([]string, len(s.Servers)),
		Revision: s.Revision, CreatedBy: s.CreatedBy, ChangedBy: s.ChangedBy, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
	for i, t := range s.Tools {
		out.Tools[i] = ToolsetTool{Tool: t.Name, Version: t.Version, ID: t.ID}
	}
	for i, m := range s.Servers {
		out.Servers[i] = m.Name
	}
	return out
}
