package registry

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// checkArtifact holds artifact tools to what they are: programs in the sandbox,
// which reach nothing but their input. All of them are therefore pure.
func checkArtifact(s *ToolSpec) error {
	if s.Implementation != tool.Artifact {
		return nil
	}
	if s.EgressClass != tool.EgressNone {
		return refuse(tool.Invalid, "/egress_class", "an artifact runs in the sandbox, which has no network: its egress class is none, not %s; what calls out is an http or mcp tool", s.EgressClass)
	}
	s.Execution.Pure = true
	return nil
}

// uploaded reports whether a tool's program is an artifact that was uploaded
// for itself, and not one in its configuration.
func uploaded(i tool.Implementation, artifactID string) bool {
	return i == tool.Artifact && artifactID != ""
}

// refuseUploaded refuses to publish what names such an artifact.
func refuseUploaded(t *tool.Tool) error {
	if uploaded(t.ImplementationType(), t.ArtifactID) {
		return refuse(tool.Conflict, "/artifact_id", "artifacts that are uploaded by themselves do not exist yet: drop artifact_id and give language and source in implementation_config, or keep the tool as a draft")
	}
	return nil
}

// checkCompiles refuses to publish a program that does not compile.
func (r *Registry) checkCompiles(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	d := &v.Snapshot.Definition
	compiles := r.opts.Compilers[d.ImplementationType()]
	if v.Published || compiles == nil {
		return nil
	}
	if err := compiles(ctx, t.Tenant, d.Config); err != nil {
		return within("/implementation_config", err)
	}
	return nil
}
