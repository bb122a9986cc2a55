package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/registry/quality"
	"github.com/toolcrib/toolcrib/tool"
)

// Tool is a tool: its draft head, its state and its policy. Values in its
// configuration that look like secrets are redacted.
type Tool struct {
	ID              string       `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Slug            string       `json:"slug" example:"searchOrders"`
	Scope           string       `json:"scope" enum:"tenant,global"`
	ToolType        tool.Bucket  `json:"tool_type" enum:"built_in,mcp,artifact,custom" doc:"Derived"`
	Status          tool.Status  `json:"status" enum:"draft,published,deprecated,disabled"`
	Active          bool         `json:"is_active"`
	Quarantine      string       `json:"quarantine,omitempty" doc:"Why the platform stopped the tool until it is reviewed; absent if it did not" example:"the server changed its definition"`
	System          bool         `json:"is_system,omitempty"`
	BuiltinKey      string       `json:"builtin_key,omitempty"`
	ArtifactID      string       `json:"artifact_id,omitempty"`
	ArtifactVersion string       `json:"artifact_version,omitempty" doc:"Of the artifact: a version, or a constraint as the tool has it" example:"^1.2"`
	ArchivedAt      *time.Time   `json:"archived_at,omitempty" doc:"Absent unless it is archived"`
	ArchivedBy      string       `json:"archived_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ReadsDeclared   *Declaration `json:"reads_declared,omitempty" doc:"Who declared that the draft's POST only reads; absent if there is no declaration"`
	Version         string       `json:"version" doc:"Number of the draft" example:"1.2.0"`
	Revision        int64        `json:"revision" example:"3"`
	PublishedAt     *time.Time   `json:"published_at,omitempty"`
	CreatedAt       time.Time    `json:"created_at"`
	UpdatedAt       time.Time    `json:"updated_at"`

	Risk    tool.RiskLevel `json:"risk" enum:"low,medium,high" doc:"As declared, but at least what the egress class implies"`
	Visible bool           `json:"visible" doc:"Whether calls are shown to people, by default as the implementation type defines"`
	// Effective is what overrides make of the tool; absent in answers to changes of the draft.
	Effective *Effective `json:"effective,omitempty" doc:"The tool as it is in the tenant of the key: switched on or off, and why, with what overrides change. The other fields are those of the draft"`

	tool.Policy
	Definition
}

// Definition is the content of a tool.
type Definition struct {
	Name           string              `json:"name" example:"Search orders"`
	Description    string              `json:"description" example:"Finds the orders of a customer. Use it before answering a question about an order."`
	Category       string              `json:"category,omitempty" example:"orders"`
	Icon           string              `json:"icon,omitempty" example:"search"`
	InputSchema    json.RawMessage     `json:"input_schema,omitempty" doc:"JSON Schema of the arguments" example:"{\"type\":\"object\",\"properties\":{\"customer\":{\"type\":\"string\"}},\"required\":[\"customer\"]}"`
	OutputSchema   json.RawMessage     `json:"output_schema,omitempty" doc:"JSON Schema of the structured result" example:"{\"type\":\"object\",\"properties\":{\"orders\":{\"type\":\"array\"}}}"`
	OutputCheck    tool.OutputCheck    `json:"output_check,omitempty" enum:"refuse,warn" doc:"How to treat an answer that does not match output_schema: refuse fails the call, warn passes it on with a warning; refuse when absent" example:"refuse"`
	Implementation tool.Implementation `json:"implementation_type" example:"http"`
	Config         json.RawMessage     `json:"implementation_config,omitempty" doc:"Its schema depends on the implementation type" example:"{\"method\":\"GET\",\"url\":\"https://orders.example.com/v2/orders\"}"`
	Execution      tool.Execution      `json:"execution"`
	Interaction    tool.Interaction    `json:"interaction"`
}

// ToolVersion is an immutable snapshot of a tool.
type ToolVersion struct {
	ID            string       `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000a2"`
	ToolID        string       `json:"tool_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	Slug          string       `json:"slug" example:"searchOrders"`
	Version       string       `json:"version" example:"1.2.0"`
	Digest        string       `json:"digest" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Published     bool         `json:"published"`
	Withheld      int          `json:"withheld,omitempty" doc:"Percent of the runs that do not get it, since it is a canary; 100 after that was taken back. Only in lists of versions" example:"90"`
	PublishedAt   *time.Time   `json:"published_at,omitempty"`
	CreatedAt     time.Time    `json:"created_at"`
	CreatedBy     string       `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ReadsDeclared *Declaration `json:"reads_declared,omitempty" doc:"Who declared that its POST only reads; absent if there is no declaration"`
	Definition    Definition   `json:"definition"`
}

// FromTool returns t as the API shows it.
func FromTool(t tool.Tool) Tool {
	return Tool{
		ID: t.ID, Slug: t.Slug, Scope: t.Scope(), ToolType: t.Bucket(), Status: t.Status, Active: t.Active,
		Quarantine: t.Quarantine,
		System:     t.System, BuiltinKey: t.BuiltinKey, ArtifactID: t.ArtifactID, ArtifactVersion: t.ArtifactVersion,
		Version: t.Version, Revision: t.Revision,
		ReadsDeclared: FromDeclaration(t.ReadsDeclared), ArchivedAt: t.ArchivedAt, ArchivedBy: t.ArchivedBy,
		PublishedAt: t.PublishedAt, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Visible: t.Shown(), Risk: t.RiskLevel(),
		Policy: t.Policy, Definition: fromDefinition(t.Definition),
	}
}

// FromToolVersion returns v as the API shows it.
func FromToolVersion(v tool.Version) ToolVersion {
	return ToolVersion{
		ID: v.ID, ToolID: v.ToolID, Slug: v.Slug, Version: v.Number, Digest: v.Digest, Published: v.Published,
		Withheld:    v.Withheld,
		PublishedAt: v.PublishedAt, CreatedAt: v.CreatedAt, CreatedBy: v.CreatedBy,
		ReadsDeclared: FromDeclaration(v.ReadsDeclared),
		Definition:    fromDefinition(v.Snapshot.Definition),
	}
}

func fromDefinition(d tool.Definition) Definition {
	interaction := d.Interaction
	interaction.ProviderOptions = secret.RedactKeys(interaction.ProviderOptions)
	return Definition{
		Name: d.Name, Description: d.Description, Category: d.Category, Icon: d.Icon,
		InputSchema: secret.RedactKeys(d.InputSchema), OutputSchema: secret.RedactKeys(d.OutputSchema),
		OutputCheck: d.OutputCheck, Implementation: d.ImplementationType(),
		Config: secret.RedactKeys(d.Config), Execution: d.Execution, Interaction: interaction,
	}
}

// Published reports what publishing a tool did.
type Published struct {
	Tool     Tool        `json:"tool"`
	Version  ToolVersion `json:"version"`
	Warnings []string    `json:"warnings,omitempty" doc:"What is allowed but not recommended" example:"[\"it is pure and max_concurrency is left at 1\"]"`
	Findings []Finding   `json:"findings,omitempty" doc:"Weak points of the draft, for models and people"`
}

// Finding is a weak point of a tool's definition.
type Finding struct {
	Code string `json:"code" doc:"docs/test-a-tool.md lists the codes" example:"description-when"`
	Path string `json:"path,omitempty" doc:"JSON Pointer of the field" example:"/description"`
	Text string `json:"text" example:"the description does not say when to use the tool"`
}

// FromFindings returns findings as the API shows them.
func FromFindings(found []quality.Finding) []Finding {
	out := make([]Finding, len(found))
	for i, f := range found {
		out[i] = Finding{Code: string(f.Code), Path: f.Path, Text: f.Text}
	}
	return out
}

// CheckedDefinition reports what saving a definition would come to.
type CheckedDefinition struct {
	Valid    bool      `json:"valid" doc:"Whether the definition could be saved as a draft"`
	Exists   bool      `json:"exists" doc:"Whether the tenant has a tool of this slug, whose draft it would replace"`
	Error    *Problem  `json:"error,omitempty" doc:"Why it could not be saved; its path is within the definition"`
	Warnings []string  `json:"warnings,omitempty" example:"[\"no description: a model does not know when to use the tool\"]"`
	Findings []Finding `json:"findings,omitempty" doc:"Weak points, for models and people; absent where it could not be saved"`
	// Schemas as they would be stored, and what people are shown of them. Absent where the definition cannot be read.
	InputSchema  json.RawMessage `json:"input_schema,omitempty"  doc:"As it would be stored, also where input_fields were sent" example:"{\"type\":\"object\",\"properties\":{}}"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty" doc:"Likewise"                                                example:"{\"type\":\"object\"}"`
	Input        json.RawMessage `json:"input,omitempty"         doc:"The form of the arguments, which may be edited and sent as input_fields" example:"{\"fields\":[{\"key\":\"customer\",\"type\":\"text\"}]}"`
	Output       json.RawMessage `json:"output,omitempty"        doc:"The form of the result, likewise as output_fields" example:"{\"fields\":[{\"key\":\"total\",\"type\":\"number\"}]}"`
}

// WithForms adds the schemas of a definition and their forms.
func (c CheckedDefinition) WithForms(d tool.Definition) CheckedDefinition {
	shown := fromDefinition(d)
	c.InputSchema, c.OutputSchema = shown.InputSchema, shown.OutputSchema
	c.Input = formOf(shown.InputSchema)
	if len(d.OutputSchema) > 0 {
		c.Output = formOf(shown.OutputSchema)
	}
	return c
}
