package mcpserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// maxSlug is how long a slug may be.
const maxSlug = 64

// remoteSlug names the tool that is made of a server's tool: the words of both
// names in camelCase. What gets too long keeps its beginning and ends in a hash
// of the rest.
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
}

// remoteSpec is the draft that an import makes: hidden, as what a gateway runs
// is (reference number S1-45), with one attempt, and asking for approval. One
// that only reads, where the operator takes the server's word for it, needs no
// approval, is pure, and runs beside others.
func remoteSpec(s *Server, d *ToolDefinition) (definition.ToolSpec, error) {
	config, err := json.Marshal(remoteConfig{s.Slug, d.Name, d.Digest})
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
			Interaction: tool.Interaction{Visible: &hidden, Annotations: hints},
		},
		Policy: tool.Policy{EgressClass: tool.EgressWrite},
	}
	if s.TrustHints && onlyReads(d) {
		spec.EgressClass = tool.EgressReadOnly
		spec.Execution = tool.Execution{Pure: true, MaxConcurrency: tool.ReadConcurrency}
	}
	return spec, nil
}

// titleOf is what people call the tool.
func titleOf(d *ToolDefinition) string {
	if d.Title != "" {
		return d.Title
	}
	return d.Name
}

// hintsOf keeps what a server says of its tool as data; nothing for nothing.
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

// remoteConfigOf reads which tool of which server a definition runs, and
// reports whether it is one of an attached server.
func remoteConfigOf(d *tool.Definition) (remoteConfig, bool) {
	var c remoteConfig
	if d.ImplementationType() != tool.MCP || json.Unmarshal(d.Config, &c) != nil || c.Server == "" {
		return remoteConfig{}, false
	}
	return c, true
}

// definitionOf reads from a tool what its server's definition was when it was
// imported: the best there is for a tool that outlived the server's row.
func definitionOf(d *tool.Definition, c remoteConfig) *ToolDefinition {
	out := &ToolDefinition{
		Name: c.ToolName, Title: d.Name, Description: d.Description, InputSchema: d.InputSchema, OutputSchema: d.OutputSchema,
		Digest: c.DefinitionDigest,
	}
	_ = json.Unmarshal(d.Interaction.Annotations, &out.Annotations) // Annotations that were edited by hand are no hints.
	return out
}
