package v1

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Agent is an agent: its draft head and its state.
type Agent struct {
	ID           string          `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000b1"`
	Slug         string          `json:"slug" example:"supportDesk"`
	Name         string          `json:"name" example:"Support desk"`
	Description  string          `json:"description,omitempty" example:"Answers questions about orders."`
	Instructions string          `json:"instructions" example:"Answer questions about orders. Look before you answer."`
	Model        string          `json:"model" example:"scripted/support-desk"`
	ModelOptions json.RawMessage `json:"model_options,omitempty" example:"{\"temperature\":0.2}"`
	Tools        []string        `json:"tools" doc:"References: a slug or id, optionally with @version" example:"[\"searchOrders@^1.2\"]"`
	ToolMode     agent.ToolMode  `json:"tool_mode,omitempty" enum:"sequential,parallel_safe"`
	Limits       agent.Limits    `json:"limits"`

	MaxConcurrency map[string]int `json:"max_concurrency,omitempty" doc:"How many pure calls of a concurrency group run at once in a run, by group: within what its tools allow, and instead of the default of 1" example:"{\"default\":8}"`

	OnUnavailableTool agent.UnavailablePolicy `json:"on_unavailable_tool,omitempty" enum:"omit,refuse" doc:"What to do when a tool cannot be used at the start of a run: omit it with a warning event (default), or refuse the run"`

	FallbackModels []agent.FallbackModel `json:"fallback_models,omitempty" doc:"Models that are asked in order where the model is unavailable: it limits the rate, fails or does not answer in time" example:"[{\"model\":\"anthropic/claude-haiku-4-5\"}]"`

	OutputSchema json.RawMessage `json:"output_schema,omitempty" doc:"JSON Schema that the final answer of a run matches: it is JSON then" example:"{\"type\":\"object\",\"properties\":{\"total\":{\"type\":\"integer\"}}}"`

	TextToolCalls agent.TextToolCalls `json:"text_tool_calls,omitempty" enum:"fallback,only" doc:"How to treat tool calls that the model writes in its text: fallback makes them where it has no native calls, only is for models without native calls and describes the tools in the instructions; text when absent"`
	Spaces        []string            `json:"spaces,omitempty" maxItems:"50" doc:"Slugs of the spaces that the agent may enter where it is a member, or [\"*\"] for every such space: it then has the built-ins of spaces, and must enter one before it calls a visible tool; it works outside of spaces when absent"`
	ToolGroups    []string            `json:"tool_groups,omitempty" maxItems:"20" doc:"Groups of tools that the agent has beside tools: categories of global tools, such as web. An agent with any group also has the tenant's own tools that models may call; [\"user_facing\"] is those alone. Tools that the principal of a run may not use are left out" example:"[\"web\"]"`

	Skills map[string]agent.Skill `json:"skills,omitempty" doc:"Tasks that tools can call the agent for, by name" example:"{\"summarize\":{\"instructions\":\"Answer in three sentences.\"}}"`

	Status      tool.Status `json:"status" enum:"draft,published,deprecated,disabled"`
	Version     string      `json:"version" doc:"Number of the draft" example:"1.2.0"`
	Revision    int64       `json:"revision" example:"3"`
	PublishedAt *time.Time  `json:"published_at,omitempty"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
}

// AgentVersion is an immutable snapshot of an agent.
type AgentVersion struct {
	ID          string          `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000b2"`
	AgentID     string          `json:"agent_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000b1"`
	Slug        string          `json:"slug" example:"supportDesk"`
	Version     string          `json:"version" example:"1.2.0"`
	Digest      string          `json:"digest" example:"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"`
	Published   bool            `json:"published"`
	PublishedAt *time.Time      `json:"published_at,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	Definition  AgentDefinition `json:"definition" doc:"Its content, without what belongs to the agent and not to the version"`
}

// FromAgent returns a as the API shows it.
func FromAgent(a agent.Agent) Agent {
	return Agent{
		ID: a.ID, Slug: a.Slug, Name: a.Name, Description: a.Description, Instructions: a.Instructions,
		Model: a.Model, ModelOptions: secret.RedactKeys(a.ModelOptions), Tools: texts(a.Tools), ToolMode: a.ToolMode,
		Limits: a.Limits, MaxConcurrency: a.MaxConcurrency, OnUnavailableTool: a.OnUnavailableTool, Skills: a.Skills,
		OutputSchema: a.OutputSchema, TextToolCalls: a.TextToolCalls, Spaces: a.Spaces, ToolGroups: a.ToolGroups,
		FallbackModels: redacted(a.FallbackModels),
		Status:         a.Status, Version: a.Version, Revision: a.Revision,
		PublishedAt: a.PublishedAt, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

// FromAgentVersion returns v as the API shows it.
func FromAgentVersion(v agent.Version) AgentVersion {
	return AgentVersion{
		ID: v.ID, AgentID: v.AgentID, Slug: v.Slug, Version: v.Number, Digest: v.Digest,
		Published: v.Published, PublishedAt: v.PublishedAt, CreatedAt: v.CreatedAt,
		Definition: AgentDefinition{
			Name: v.Snapshot.Name, Description: v.Snapshot.Description, Instructions: v.Snapshot.Instructions,
			Model: v.Snapshot.Model, ModelOptions: secret.RedactKeys(v.Snapshot.ModelOptions),
			Tools: texts(v.Snapshot.Tools), ToolMode: v.Snapshot.ToolMode, Limits: &v.Snapshot.Limits,
			MaxConcurrency: v.Snapshot.MaxConcurrency, OnUnavailableTool: v.Snapshot.OnUnavailableTool,
			Skills: v.Snapshot.Skills, OutputSchema: v.Snapshot.OutputSchema, TextToolCalls: v.Snapshot.TextToolCalls,
			Spaces: v.Snapshot.Spaces, ToolGroups: v.Snapshot.ToolGroups, FallbackModels: redacted(v.Snapshot.FallbackModels),
		},
	}
}

// redacted returns models without secrets in their options.
func redacted(models []agent.FallbackModel) []agent.FallbackModel {
	out := slices.Clone(models)
	for i := range out {
		out[i].ModelOptions = secret.RedactKeys(out[i].ModelOptions)
	}
	return out
}

// texts writes references as callers do.
func texts(refs []tool.Ref) []string {
	out := make([]string, len(refs))
	for i, ref := range refs {
		out[i] = ref.String()
	}
	return out
}

// PublishedAgent reports what publishing an agent did.
type PublishedAgent struct {
	Agent   Agent        `json:"agent"`
	Version AgentVersion `json:"version"`
}
