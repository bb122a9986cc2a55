package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Agent is an agent: its draft head and its state.
type Agent struct {
	ID           string          `json:"id"`
	Slug         string          `json:"slug"`
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	Instructions string          `json:"instructions"`
	Model        string          `json:"model"`
	ModelOptions json.RawMessage `json:"model_options,omitempty"`
	Tools        []string        `json:"tools" doc:"References: a slug or id, optionally with @version"`
	ToolMode     agent.ToolMode  `json:"tool_mode,omitempty" enum:"sequential,parallel_safe"`
	Limits       agent.Limits    `json:"limits"`
	Status       tool.Status     `json:"status" enum:"draft,published,deprecated,disabled"`
	Version      string          `json:"version" doc:"Number of the draft"`
	Revision     int64           `json:"revision"`
	PublishedAt  *time.Time      `json:"published_at,omitempty"`
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`
}

// AgentVersion is an immutable snapshot of an agent.
type AgentVersion struct {
	ID          string     `json:"id"`
	AgentID     string     `json:"agent_id"`
	Slug        string     `json:"slug"`
	Version     string     `json:"version"`
	Digest      string     `json:"digest"`
	Published   bool       `json:"published"`
	PublishedAt *time.Time `json:"published_at,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
}

// FromAgent returns a as the API shows it.
func FromAgent(a agent.Agent) Agent {
	out := Agent{
		ID: a.ID, Slug: a.Slug, Name: a.Name, Description: a.Description, Instructions: a.Instructions,
		Model: a.Model, ModelOptions: Redact(a.ModelOptions), Tools: make([]string, len(a.Tools)), ToolMode: a.ToolMode,
		Limits: a.Limits, Status: a.Status, Version: a.Version, Revision: a.Revision,
		PublishedAt: a.PublishedAt, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
	for i, ref := range a.Tools {
		out.Tools[i] = ref.String()
	}
	return out
}

// FromAgentVersion returns v as the API shows it.
func FromAgentVersion(v agent.Version) AgentVersion {
	return AgentVersion{
		ID: v.ID, AgentID: v.AgentID, Slug: v.Slug, Version: v.Number, Digest: v.Digest,
		Published: v.Published, PublishedAt: v.PublishedAt, CreatedAt: v.CreatedAt,
	}
}

// PublishedAgent tells what publishing an agent did.
type PublishedAgent struct {
	Agent   Agent        `json:"agent"`
	Version AgentVersion `json:"version"`
}
