package registry

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// checkArtifact holds artifact tools to what they are: programs in the sandbox,
// which reach nothing but their input. All of them are therefore pure.
//
// A tool that names an uploaded program is one, whatever its implementation type
// says (reference number S3-37).
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

// checkCompiles refuses to publish a program that does not compile.
func (r *Registry) checkCompiles(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	d := &v.Snapshot.Definition
	compiles := r.opts.Compilers[d.ImplementationType()]
	if v.Published || compiles == nil || t.ArtifactID != "" || d.Artifact != nil { // What is uploaded was compiled then.
		return nil
	}
	if err := compiles(ctx, t.Tenant, d.Config); err != nil {
		return within("/implementation_config", err)
	}
	return nil
}
