package definition

import (
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// ToolSpec is the desired state of a tool: the fields of a [tool.Tool] that its
// owner may set.
type ToolSpec struct {
	Slug  string `json:"slug"`
	Scope string `json:"scope,omitempty"` // "tenant" is the only one, and the default.
	tool.Definition
	tool.Policy
	// Draft when empty. Published asks for publishing, as Publish does.
	Status          tool.Status `json:"status,omitempty"`
	Active          *bool       `json:"is_active,omitempty"`   // Nil keeps the stored value; true for a new tool.
	System          bool        `json:"is_system,omitempty"`   // Only an import reads it.
	BuiltinKey      string      `json:"builtin_key,omitempty"` // For global tools only: a tenant's is refused.
	ArtifactID      string      `json:"artifact_id,omitempty"`
	ArtifactVersion string      `json:"artifact_version,omitempty"`
	// Version is the number of the head. Empty keeps the stored number, 1.0.0 for a
	// new tool; applying a definition then proposes the next number.
	Version string `json:"version,omitempty"`
	// Publish asks to publish the head under Version.
	Publish bool `json:"publish,omitempty"`
	// Revision guards an update: unless zero, it must be the stored revision, else
	// the update fails with [ErrChanged].
	Revision int64 `json:"revision,omitempty"`
}

// AgentSpec is the desired state of an agent; see [ToolSpec] for its fields.
type AgentSpec struct {
	Slug string `json:"slug"`
	agent.Definition
	Status   tool.Status `json:"status,omitempty"`
	Version  string      `json:"version,omitempty"`
	Publish  bool        `json:"publish,omitempty"`
	Revision int64       `json:"revision,omitempty"`
}

// Definition is what [Parse] reads: exactly one of a tool, an agent,
// an MCP server, an artifact, a pipeline, a profile and a toolset.
type Definition struct {
	Tool     *ToolSpec
	Agent    *AgentSpec
	Server   *ServerSpec
	Artifact *ArtifactSpec
	Pipeline *PipelineSpec
	Profile  *ProfileSpec
	Toolset  *ToolsetSpec
}

// Kind returns "tool", "agent", "mcp_server", "artifact", "pipeline", "profile" or "toolset".
func (d Definition) Kind() string {
	switch {
	case d.Toolset != nil:
		return "toolset"
	case d.Profile != nil:
		return "profile"
	case d.Pipeline != nil:
		return "pipeline"
	case d.Artifact != nil:
		return "artifact"
	case d.Server != nil:
		return "mcp_server"
	case d.Agent != nil:
		return "agent"
	default:
		return "tool"
	}
}

// Slug returns the slug of the tool, agent, server, artifact, pipeline or toolset, and the name of
// a profile.
func (d Definition) Slug() string {
	switch {
	case d.Toolset != nil:
		return d.Toolset.Slug
	case d.Profile != nil:
		return d.Profile.Name
	case d.Pipeline != nil:
		return d.Pipeline.Slug
	case d.Artifact != nil:
		return d.Artifact.Slug
	case d.Server != nil:
		return d.Server.Slug
	case d.Agent != nil:
		return d.Agent.Slug
	case d.Tool != nil:
		return d.Tool.Slug
	default:
		return ""
	}
}

// AsksToPublish reports whether the spec asks for publishing, by Publish or by
// Status.
func (s *ToolSpec) AsksToPublish() bool { return s.Publish || s.Status == tool.Published }

// AsksToPublish reports whether the spec asks for publishing, by Publish or by
// Status.
func (s *AgentSpec) AsksToPublish() bool { return s.Publish || s.Status == tool.Published }
