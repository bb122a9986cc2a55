package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

// MCPServerDefinition is the definition of an MCP server. The server reads
// other spellings of its fields too; these are the preferred ones.
type MCPServerDefinition struct {
	Slug         string         `json:"slug,omitempty" pattern:"^[a-z][a-z0-9-]{0,31}$" doc:"Prefix of the slugs of imported tools; cannot be changed. Derived from the name when absent" example:"files"`
	Name         string         `json:"name,omitempty" maxLength:"200" doc:"The slug when absent" example:"Files of the shop"`
	URL          string         `json:"server_url,omitempty" maxLength:"2048" doc:"Its address; absent for stdio" example:"https://files.example.com/mcp"`
	Transport    string         `json:"transport,omitempty" enum:"streamable_http,http,sse,stdio" doc:"streamable_http when absent; http is an alias of it" example:"streamable_http"`
	Command      string         `json:"command,omitempty" maxLength:"64" doc:"For stdio: the name of a command that the operator configured" example:""`
	Headers      map[string]any `json:"headers,omitempty" doc:"Sent with every request: a string, or {\"credentials_ref\": \"name\"}" example:"{\"X-Team\":\"shop\"}"`
	Auth         *MCPAuth       `json:"auth,omitempty"`
	AllowedTools []string       `json:"allowed_tools,omitempty" maxItems:"1000" doc:"The tools to import, by the server's names; * alone for all, none when empty" example:"[\"read_file\"]"`
	TrustHints   bool           `json:"trust_hints,omitempty" doc:"Trust the server's hint that a tool only reads, which then needs no approval" example:"false"`
	Status       string         `json:"status,omitempty" enum:"active,disabled" example:"active"`
	Revision     int64          `json:"revision,omitempty" doc:"Unless zero, the change fails if the server has another revision, as with If-Match" example:"0"`
}

// MCPTrust says whether results of a server are trusted.
type MCPTrust struct {
	Trusted bool `json:"trusted" doc:"Whether results of the server's tools leave runs untainted" example:"true"`
}

// MCPAuth names the credential that is sent to a server.
type MCPAuth struct {
	Type           string `json:"type" enum:"bearer,basic,header" example:"bearer"`
	CredentialsRef string `json:"credentials_ref" doc:"The name of a credential, never the credential" example:"files-token"`
	Header         string `json:"header,omitempty" doc:"For header" example:""`
}

// MCPServer is an MCP server that the tenant attached.
type MCPServer struct {
	ID           string         `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000f1"`
	Slug         string         `json:"slug" example:"files"`
	Name         string         `json:"name" example:"Files of the shop"`
	URL          string         `json:"server_url,omitempty" example:"https://files.example.com/mcp"`
	Transport    string         `json:"transport" enum:"streamable_http,sse,stdio"`
	Command      string         `json:"command,omitempty" example:""`
	Headers      map[string]any `json:"headers,omitempty"`
	Auth         *MCPAuth       `json:"auth,omitempty"`
	AllowedTools []string       `json:"allowed_tools" example:"[\"read_file\"]"`
	TrustHints   bool           `json:"trust_hints,omitempty"`
	Trusted      bool           `json:"trusted,omitempty" doc:"Results of its tools do not taint the runs that get them"`
	Status       string         `json:"status" enum:"active,disabled"`

	DiscoveredAt    *time.Time `json:"discovered_at,omitempty" doc:"Time of the last discovery"`
	DiscoveryError  string     `json:"discovery_error,omitempty" doc:"Why the last discovery failed" example:""`
	ProtocolVersion string     `json:"protocol_version,omitempty" example:"2025-11-25"`
	ServerName      string     `json:"server_name,omitempty" doc:"The server's name for itself" example:"files"`
	ServerVersion   string     `json:"server_version,omitempty" example:"2.1.0"`

	Revision  int64     `json:"revision" example:"3"`
	CreatedBy string    `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// FromMCPServer returns s as the API shows it.
func FromMCPServer(s mcpserver.Server) MCPServer {
	out := MCPServer{
		ID: s.ID, Slug: s.Slug, Name: s.Name, URL: s.URL, Transport: string(s.Kind()), Command: s.Command,
		AllowedTools: s.AllowedTools, TrustHints: s.TrustHints, Trusted: s.Trusted, Status: s.Status,
		DiscoveredAt: s.DiscoveredAt, DiscoveryError: s.DiscoveryError, ProtocolVersion: s.ProtocolVersion,
		ServerName: s.ServerName, ServerVersion: s.ServerVersion,
		Revision: s.Revision, CreatedBy: s.CreatedBy, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
	for name, h := range s.Headers {
		if out.Headers == nil {
			out.Headers = make(map[string]any, len(s.Headers))
		}
		if out.Headers[name] = h.Literal; h.CredentialsRef != "" {
			out.Headers[name] = map[string]string{"credentials_ref": h.CredentialsRef}
		}
	}
	if s.Auth != nil {
		out.Auth = &MCPAuth{Type: s.Auth.Type, CredentialsRef: s.Auth.CredentialsRef, Header: s.Auth.Header}
	}
	return out
}

// MCPRefresh lists what a server offers now, compared with what it offered
// before.
type MCPRefresh struct {
	Server    MCPServer          `json:"server"`
	Tools     []MCPRefreshedTool `json:"tools" doc:"Those with something to report, in the order of their names"`
	Unchanged int                `json:"unchanged" doc:"How many imported tools are unchanged"`
	Error     *Problem           `json:"error,omitempty" doc:"Why discovery failed: the server is attached all the same"`
}

// MCPRefreshedTool is a tool for which a refresh found something to report.
type MCPRefreshedTool struct {
	Name   string `json:"name" doc:"The server's name of the tool" example:"read_file"`
	Tool   string `json:"tool,omitempty" doc:"Slug of the imported tool" example:"filesReadFile"`
	Change string `json:"change" enum:"new,offered,changed,gone,back,refused,missing"`
	Reason string `json:"reason,omitempty" example:"the server changed its definition"`
}

// FromRefresh returns r as the API shows it.
func FromRefresh(s mcpserver.Server, r mcpserver.Report) MCPRefresh {
	out := MCPRefresh{Server: FromMCPServer(s), Tools: make([]MCPRefreshedTool, len(r.Tools)), Unchanged: r.Unchanged}
	for i, t := range r.Tools {
		out.Tools[i] = MCPRefreshedTool{Name: t.Name, Tool: t.Slug, Change: string(t.Change), Reason: t.Reason}
	}
	return out
}

// MCPTool is a tool of a server, and which definition of it was approved.
type MCPTool struct {
	Name           string      `json:"name" doc:"The server's name of the tool" example:"read_file"`
	State          string      `json:"state" enum:"offered,pinned,changed,approved,gone,refused"`
	Reason         string      `json:"reason,omitempty" example:"the server changed its definition"`
	Tool           string      `json:"tool,omitempty" doc:"Slug of the imported tool" example:"filesReadFile"`
	ToolID         string      `json:"tool_id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	ToolStatus     tool.Status `json:"tool_status,omitempty" enum:"draft,published,deprecated,disabled"`
	Quarantine     string      `json:"quarantine,omitempty" doc:"Why the tool is stopped" example:"the server changed its definition"`
	Description    string      `json:"description,omitempty" doc:"The server's description: untrusted text" example:"Reads a file."`
	PinnedDigest   string      `json:"pinned_digest,omitempty" doc:"Of the approved definition that may run" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	ApprovedDigest string      `json:"approved_digest,omitempty" doc:"Of the definition that the draft holds" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	ApprovedBy     string      `json:"approved_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ApprovedAt     *time.Time  `json:"approved_at,omitempty"`
	SeenDigest     string      `json:"seen_digest,omitempty" doc:"Of the definition that the server sent last" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	FirstSeenAt    time.Time   `json:"first_seen_at"`
	SeenAt         time.Time   `json:"seen_at"`
	ChangedAt      time.Time   `json:"changed_at" doc:"When its state or its definition changed last"`
}

// FromRemoteTool returns t as the API shows it.
func FromRemoteTool(t mcpserver.Tool) MCPTool {
	out := MCPTool{
		Name: t.Name, State: string(t.State), Reason: t.Reason, Tool: t.ToolSlug, ToolID: t.ToolID, ToolStatus: t.ToolStatus,
		Quarantine: t.Quarantine, ApprovedDigest: t.ApprovedDigest, ApprovedBy: t.ApprovedBy, ApprovedAt: t.ApprovedAt,
		FirstSeenAt: t.FirstSeenAt, SeenAt: t.SeenAt, ChangedAt: t.ChangedAt,
	}
	if t.Pinned != nil {
		out.PinnedDigest = t.Pinned.Digest
	}
	if t.Seen != nil {
		out.SeenDigest, out.Description = t.Seen.Digest, t.Seen.Description
	}
	return out
}

// MCPDrift reports how a server changed a tool since the tool was approved.
type MCPDrift struct {
	MCPTool
	Pinned   *MCPDefinition `json:"pinned,omitempty" doc:"The server's definition that may run"`
	Offered  *MCPDefinition `json:"offered,omitempty" doc:"The server's definition now"`
	Diff     *Diff          `json:"diff,omitempty" doc:"What approving the definition would change, from the last release or the draft; absent if the tool was not imported"`
	Warnings []string       `json:"warnings,omitempty" doc:"What an approval would leave unchanged, and why" example:"[]"`
}

// MCPDefinition is a tool as its server describes it: untrusted text.
type MCPDefinition struct {
	Digest       string          `json:"digest" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Title        string          `json:"title,omitempty" example:"Read a file"`
	Description  string          `json:"description,omitempty" example:"Reads a file."`
	InputSchema  json.RawMessage `json:"input_schema,omitempty" example:"{\"type\":\"object\"}"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty" example:"{\"type\":\"object\"}"`
	Annotations  json.RawMessage `json:"annotations,omitempty" doc:"Hints" example:"{\"read_only\":true}"`
}

// FromDrift returns d as the API shows it, with its diff.
func FromDrift(d mcpserver.Drift, diff *Diff) MCPDrift {
	return MCPDrift{
		MCPTool: FromRemoteTool(d.Tool), Pinned: fromRemoteDefinition(d.Tool.Pinned),
		Offered: fromRemoteDefinition(d.Tool.Seen),
		Diff:    diff, Warnings: d.Warnings,
	}
}

func fromRemoteDefinition(d *mcpserver.ToolDefinition) *MCPDefinition {
	if d == nil {
		return nil
	}
	out := &MCPDefinition{
		Digest: d.Digest, Title: d.Title, Description: d.Description, InputSchema: d.InputSchema,
		OutputSchema: d.OutputSchema,
	}
	if hints, err := json.Marshal(d.Annotations); err == nil && string(hints) != "{}" {
		out.Annotations = hints
	}
	return out
}

// ApproveMCP approves the definitions that a server offers now of its tools.
type ApproveMCP struct {
	Tools   []MCPApproval `json:"tools" nullable:"false" minItems:"1" maxItems:"100"`
	Publish bool          `json:"publish,omitempty" doc:"Publish the drafts too, as new versions" example:"true"`
}

// MCPApproval names a tool and the reviewed definition of it.
type MCPApproval struct {
	Name   string `json:"name" minLength:"1" maxLength:"128" doc:"The server's name of the tool" example:"read_file"`
	Digest string `json:"digest,omitempty" maxLength:"64" doc:"Of the reviewed definition: the approval fails if the server sent another one meanwhile. When absent, the last one sent is approved" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
}

// ApprovedMCP reports the outcome for each tool, in the order of the request.
type ApprovedMCP struct {
	Failed int                  `json:"failed" doc:"How many could not be approved"`
	Items  []ApprovedMCPChanges `json:"items"`
}

// ApprovedMCPChanges reports the outcome of an approval for a tool.
type ApprovedMCPChanges struct {
	Name      string   `json:"name" example:"read_file"`
	Tool      string   `json:"tool,omitempty" example:"filesReadFile"`
	Version   string   `json:"version,omitempty" doc:"Number of the draft" example:"2.0.0"`
	Published bool     `json:"published,omitempty"`
	Warnings  []string `json:"warnings,omitempty" example:"[]"`
	Error     *Problem `json:"error,omitempty"`
}

// DetachedMCP reports what detaching a server did.
type DetachedMCP struct {
	Server   string   `json:"server" example:"files"`
	Disabled []string `json:"disabled" doc:"Slugs of the tools that were disabled" example:"[\"filesReadFile\"]"`
}
