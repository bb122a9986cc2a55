package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/view"
)

// NewView asks for a view to be published.
type NewView struct {
	Kind        view.Kind `json:"kind" enum:"result,tool,form" doc:"What the page displays: the result of a call, or what a tool does and takes. A form takes input, and is refused" example:"result"`
	RunID       string    `json:"run_id,omitempty" maxLength:"64" doc:"Of a result: the run of the call" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	Tool        string    `json:"tool,omitempty" maxLength:"64" doc:"Of a tool: its slug or id" example:""`
	Title       string    `json:"title,omitempty" maxLength:"200" doc:"Of the page; the tool's slug when absent" example:"Order SO-1017"`
	Description string    `json:"description,omitempty" maxLength:"2000" doc:"What the page says above the view" example:"As of this morning."`
	ExpiresIn   int64     `json:"expires_in_seconds,omitempty" minimum:"60" maximum:"31536000" doc:"How long the link is good; a week when absent" example:"86400"`
}

// ViewRotation asks for another link to a view.
type ViewRotation struct {
	ExpiresIn int64 `json:"expires_in_seconds,omitempty" minimum:"60" maximum:"31536000" doc:"How long the link is good; a week when absent" example:"86400"`
}

// View is a published view.
type View struct {
	ID          string      `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000e8"`
	Kind        view.Kind   `json:"kind" enum:"result,tool"`
	Title       string      `json:"title" example:"Order SO-1017"`
	Description string      `json:"description,omitempty" example:"As of this morning."`
	Status      view.Status `json:"status" enum:"live,expired,revoked,suspended" doc:"What the link does. Suspended: it opens nothing while the tool is disabled, deleted or quarantined"`
	Tool        string      `json:"tool" doc:"Slug of the tool when it was published" example:"getOrder"`
	ToolID      string      `json:"tool_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Version     string      `json:"version" example:"1.2.0"`
	RunID       string      `json:"run_id,omitempty" doc:"Of the call whose result is shown" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	ExpiresAt   time.Time   `json:"expires_at"`
	RevokedAt   *time.Time  `json:"revoked_at,omitempty"`
	Rotations   int         `json:"rotations" doc:"How often it got another link" example:"0"`
	CreatedBy   string      `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ChangedBy   string      `json:"changed_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
}

// PublishedView is a view with its link, which is shown once.
type PublishedView struct {
	View
	URL   string `json:"url" doc:"Of the page. Everyone who has it can open it until it expires" example:"https://tools.example.com/v/tcv_AZdcLn0afD6fAA"`
	Token string `json:"token" doc:"What the URL ends with. It is not stored" example:"tcv_AZdcLn0afD6fAA"`
}

// Publishing is a tenant's switch for published views.
type Publishing struct {
	Enabled bool `json:"mcp_apps_publish_enabled" doc:"Whether views may be published, and MCP clients are offered the tools that do" example:"true"`
}

// FromView returns a view as the API shows it.
func FromView(v view.View) View {
	return View{
		ID: v.ID, Kind: v.Kind, Title: v.Title, Description: v.Description, Status: v.Status(), Tool: v.Slug,
		ToolID: v.ToolID, Version: v.Version, RunID: v.RunID, ExpiresAt: v.ExpiresAt, RevokedAt: v.RevokedAt,
		Rotations: v.Rotations, CreatedBy: v.CreatedBy, ChangedBy: v.ChangedBy, CreatedAt: v.CreatedAt,
		UpdatedAt: v.UpdatedAt,
	}
}
