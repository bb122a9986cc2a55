package agent

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// Plan is a run's lockfile: the exact versions, by digest, that it uses for as
// long as it lasts. Content is pinned here; authority never is.
type Plan struct {
	AgentID      string   `json:"agent_id,omitempty"` // Empty for a run without an agent.
	Agent        string   `json:"agent,omitempty"`
	AgentVersion string   `json:"agent_version,omitempty"`
	AgentDigest  string   `json:"agent_digest,omitempty"`
	ToolMode     ToolMode `json:"tool_mode,omitempty"`
	Limits       Limits   `json:"limits"`
	Tools        []Pin    `json:"tools"` // Sorted by Slug, so that prompts cache.
}

// Pin is one pinned tool version with what the scheduler must know of it.
type Pin struct {
	ToolID         string              `json:"tool_id"`
	Slug           string              `json:"slug"`
	Version        string              `json:"version"`
	Digest         string              `json:"digest"`
	Implementation tool.Implementation `json:"implementation_type"`
	Execution      tool.Execution      `json:"execution"`
	Builtin        string              `json:"builtin_key,omitempty"`
	Deprecated     bool                `json:"deprecated,omitempty"` // At the time of pinning.
	Fast           bool                `json:"fast_lane,omitempty"`  // First attempts take the fast lane.
}

// String returns "slug@version".
func (p Pin) String() string { return p.Slug + "@" + p.Version }

// Find returns the pin of the tool called slug.
func (p *Plan) Find(slug string) (Pin, bool) {
	for _, pin := range p.Tools {
		if pin.Slug == slug {
			return pin, true
		}
	}
	return Pin{}, false
}

// Digest returns the sha256, in hexadecimal, of the plan's canonical JSON.
func (p *Plan) Digest() (string, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	return tool.Digest(raw)
}
