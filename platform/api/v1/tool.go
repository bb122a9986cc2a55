package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Tool is a tool: its draft head, its state and its policy. Values in its
// configuration that look like secrets are redacted.
type Tool struct {
	ID          string      `json:"id"`
	Slug        string      `json:"slug"`
	Scope       string      `json:"scope" enum:"tenant,global"`
	ToolType    tool.Bucket `json:"tool_type" enum:"built_in,mcp,artifact,custom" doc:"Derived"`
	Status      tool.Status `json:"status" enum:"draft,published,deprecated,disabled"`
	Active      bool        `json:"is_active"`
	System      bool        `json:"is_system,omitempty"`
	BuiltinKey  string      `json:"builtin_key,omitempty"`
	ArtifactID  string      `json:"artifact_id,omitempty"`
	Version     string      `json:"version" doc:"Number of the draft"`
	Revision    int64       `json:"revision"`
	PublishedAt *time.Time  `json:"published_at,omitempty"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`

	tool.Policy
	Definition
}

// Definition is the content of a tool.
type Definition struct {
	Name           string              `json:"name"`
	Description    string              `json:"description"`
	Category       string              `json:"category,omitempty"`
	Icon           string              `json:"icon,omitempty"`
	InputSchema    json.RawMessage     `json:"input_schema,omitempty"`
	OutputSchema   json.RawMessage     `json:"output_schema,omitempty"`
	Implementation tool.Implementation `json:"implementation_type"`
	Config         json.RawMessage     `json:"implementation_config,omitempty"`
	Execution      tool.Execution      `json:"execution"`
	Interaction    tool.Interaction    `json:"interaction"`
}

// ToolVersion is an immutable snapshot of a tool.
type ToolVersion struct {
	ID          string     `json:"id"`
	ToolID      string     `json:"tool_id"`
	Slug        string     `json:"slug"`
	Version     string     `json:"version"`
	Digest      string     `json:"digest"`
	Published   bool       `json:"published"`
	PublishedAt *time.Time `json:"published_at,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	CreatedBy   string     `json:"created_by,omitempty"`
	Definition  Definition `json:"definition"`
}

// FromTool returns t as the API shows it.
func FromTool(t tool.Tool) Tool {
	return Tool{
		ID: t.ID, Slug: t.Slug, Scope: t.Scope(), ToolType: t.Bucket(), Status: t.Status, Active: t.Active,
		System: t.System, BuiltinKey: t.BuiltinKey, ArtifactID: t.ArtifactID, Version: t.Version, Revision: t.Revision,
		PublishedAt: t.PublishedAt, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		Policy: t.Policy, Definition: fromDefinition(t.Definition),
	}
}

// FromToolVersion returns v as the API shows it.
func FromToolVersion(v tool.Version) ToolVersion {
	return ToolVersion{
		ID: v.ID, ToolID: v.ToolID, Slug: v.Slug, Version: v.Number, Digest: v.Digest, Published: v.Published,
		PublishedAt: v.PublishedAt, CreatedAt: v.CreatedAt, CreatedBy: v.CreatedBy,
		Definition: fromDefinition(v.Snapshot.Definition),
	}
}

func fromDefinition(d tool.Definition) Definition {
	return Definition{
		Name: d.Name, Description: d.Description, Category: d.Category, Icon: d.Icon,
		InputSchema: d.InputSchema, OutputSchema: d.OutputSchema, Implementation: d.ImplementationType(),
		Config: Redact(d.Config), Execution: d.Execution, Interaction: d.Interaction,
	}
}

// Published tells what publishing a tool did.
type Published struct {
	Tool    Tool        `json:"tool"`
	Version ToolVersion `json:"version"`
}
