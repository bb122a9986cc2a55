package mcpserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// maxSlug bounds the length of a slug, in bytes.
const maxSlug = 64

// remoteSlug returns the slug of an imported tool: the words of the server's and
// the tool's name in camelCase. One that is too long is cut, and ends in a hash of
// the tool's name.
func remoteSlug(server, name string) string {
	var b strings.Builder
	upper := false
	for _, c := range server + "_" + name {
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z':
			b.WriteRune(c)
		case c >= 'a' && c <= 'z' && upper:
			b.WriteRune(c - 'a' + 'A')
		case c >= 'a' && c <= 'z':
			b.WriteRune(c)
		default:
			upper = true
			continue
		}
		upper = false
	}
	slug := b.String()
	if len(slug) <= maxSlug {
		return slug
	}
	sum := sha256.Sum256([]byte(name))
	end := "_" + hex.EncodeToString(sum[:])[:8]
	return slug[:maxSlug-len(end)] + end
}

// remoteConfig is the implementation_config of an imported tool.
type remoteConfig struct {
	Server           string `json:"server"`
	ToolName         string `json:"tool_name"`
	DefinitionDigest string `json:"definition_digest"`
	// UI is the app that shows the tool's results, and who may call the tool.
	UI *remote.UI `json:"ui,omitempty"`
}

// remoteSpec returns the draft of an imported tool: hidden (reference number
// S1-45), with one attempt and approval required. With TrustHints, a tool that
// hints to be read-only is pure instead, and needs no approval.
func remoteSpec(s *Server, d *ToolDefinition) (definition.ToolSpec, error) {
	config, err := json.Marshal(remoteConfig{s.Slug, d.Name, d.Digest, d.UI})
	if err != nil {
		return definition.ToolSpec{}, refusal.New(tool.Invalid, "", "the tool's name is malformed")
	}
	hints, err := hintsOf(d)
	if err != nil {
		return definition.ToolSpec{}, err
	}
	hidden := false
	spec := definition.ToolSpec{
		Slug: remoteSlug(s.Slug, d.Name),
		Definition: tool.Definition{
			Name: titleOf(d), Description: d.Description, InputSchema: d.InputSchema, OutputSchema: d.OutputSchema,
			Implementation: tool.MCP, Config: config,
			Interaction: tool.Interaction{Visible: &hidden, Annotations: hints, Audience: audienceOf(d)},
		},
		Policy: tool.Policy{EgressClass: tool.EgressWrite},
	}
	if s.TrustHints && onlyReads(d) {
		spec.EgressClass = tool.EgressReadOnly
		spec.Execution = tool.Execution{Pure: true, MaxConcurrency: tool.ReadConcurrency}
	}
	return spec, nil
}

// audienceOf returns who is offered a tool: people alone, where its server offers it to its app alone.
func audienceOf(d *ToolDefinition) tool.Audience {
	if d.UI.Serves(remote.ForModel) {
		return ""
	}
	return tool.AudienceUser
}

// titleOf returns the display name of a tool.
func titleOf(d *ToolDefinition) string {
	if d.Title != "" {
		return d.Title
	}
	return d.Name
}

// hintsOf returns the hints of a tool as annotations; nil for none.
func hintsOf(d *ToolDefinition) (json.RawMessage, error) {
	raw, err := json.Marshal(d.Annotations)
	if err != nil {
		return nil, refusal.New(tool.Invalid, "", "the annotations are malformed")
	}
	if string(raw) == "{}" {
		return nil, nil
	}
	return raw, nil
}

func onlyReads(d *ToolDefinition) bool {
	return d.Annotations.ReadOnly != nil && *d.Annotations.ReadOnly &&
		(d.Annotations.Destructive == nil || !*d.Annotations.Destructive)
}

// remoteConfigOf reads the configuration of an imported tool; false for any other
// definition.
func remoteConfigOf(d *tool.Definition) (remoteConfig, bool) {
	var c remoteConfig
	if d.ImplementationType() != tool.MCP || json.Unmarshal(d.Config, &c) != nil || c.Server == "" {
		return remoteConfig{}, false
	}
	return c, true
}

// SlugOf returns the slug of the attached server that a tool runs on; empty for none.
func SlugOf(d *tool.Definition) string {
	c, _ := remoteConfigOf(d)
	return c.Server
}

// definitionOf reconstructs the server's definition from an imported tool whose
// server row was removed.
func definitionOf(d *tool.Definition, c remoteConfig) *ToolDefinition {
	out := &ToolDefinition{
		Name: c.ToolName, Title: d.Name, Description: d.Description, InputSchema: d.InputSchema, OutputSchema: d.OutputSchema,
		Digest: c.DefinitionDigest, UI: c.UI,
	}
	_ = json.Unmarshal(d.Interaction.Annotations, &out.Annotations) // Annotations edited by hand may be no hints.
	return out
}
