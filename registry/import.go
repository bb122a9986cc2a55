package registry

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Imported is what became of one tool of an import.
type Imported struct {
	Change
	Err *tool.Error // Set when the tool was not imported.
}

// Import takes over tools of another system, as [ParseDefinition] reads them.
// What they do not say is filled in: a tool that is active is published and
// another disabled, the version is 1.0.0, and the implementation type follows
// from artifact, configuration and is_system. A tool that cannot be published
// as it is becomes a draft, with a warning that says why. One that is not even
// a valid draft fails alone.
func (r *Registry) Import(ctx context.Context, p tool.Principal, tools []ToolSpec) ([]Imported, error) {
	return r.importTools(ctx, p, tools, true)
}

// CheckImport reports what [Registry.Import] would do, and writes nothing.
func (r *Registry) CheckImport(ctx context.Context, p tool.Principal, tools []ToolSpec) ([]Imported, error) {
	return r.importTools(ctx, p, tools, false)
}

func (r *Registry) importTools(
	ctx context.Context, p tool.Principal, tools []ToolSpec, write bool,
) ([]Imported, error) {
	if err := mayWrite(p, ToolsWrite); err != nil {
		return nil, err
	}
	out := make([]Imported, 0, len(tools))
	for _, s := range tools {
		out = append(out, r.importTool(ctx, p, Backfill(s), write))
	}
	return out, nil
}

func (r *Registry) importTool(ctx context.Context, p tool.Principal, s ToolSpec, write bool) Imported {
	c, err := r.applyTool(ctx, p, s, write)
	if err == nil {
		return Imported{Change: c}
	}
	if !s.wanted() {
		return failed(s, err)
	}
	reason := tool.AsError(err)
	missing := reason.Kind == tool.NotFound && strings.HasPrefix(reason.Path, "/artifact_") // It may be uploaded yet.
	if reason.Kind != tool.Invalid && reason.Kind != tool.Conflict && !missing {
		return failed(s, err)
	}
	s.Status, s.Publish = "", false
	if c, err = r.applyTool(ctx, p, s, write); err != nil {
		return failed(s, err)
	}
	c.Warnings = append(c.Warnings, "imported as a draft: "+reason.Msg)
	return Imported{Change: c}
}

func failed(s ToolSpec, err error) Imported {
	return Imported{Change: Change{Kind: "tool", Slug: s.Slug, Version: s.Version}, Err: tool.AsError(err)}
}

// Backfill fills in what a tool of another system does not say of itself.
func Backfill(s ToolSpec) ToolSpec {
	if s.Status == "" && !s.Publish {
		s.Status = tool.Published
		if s.Active != nil && !*s.Active {
			s.Status = tool.Disabled
		}
	}
	if s.Version == "" {
		s.Version = FirstVersion
	}
	if s.ImplementationType() == "" {
		s.Implementation = inferType(&s)
	}
	return s
}

// inferType infers an implementation type from the fields that are configured.
func inferType(s *ToolSpec) tool.Implementation {
	if s.ArtifactID != "" {
		return tool.Artifact
	}
	var config map[string]json.RawMessage
	if json.Unmarshal(s.Config, &config) == nil {
		for _, sign := range []struct {
			key  string
			impl tool.Implementation
		}{
			{"function_name", tool.Function},
			{"server_url", tool.MCP},
			{"pipeline_id", tool.RAGRetrieval},
			{"target_agent_id", tool.AgentCall},
			{"target_agent_slug", tool.AgentCall},
			{"url", tool.HTTP},
		} {
			if config[sign.key] != nil {
				return sign.impl
			}
		}
	}
	if s.System || s.BuiltinKey != "" {
		return tool.Internal
	}
	return tool.Custom
}
