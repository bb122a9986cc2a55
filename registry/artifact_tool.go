package registry

import (
	"context"
	"fmt"

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
		return refuse(
			tool.Invalid, "/egress_class",
			"an artifact runs in the sandbox, which has no network: its egress class is none, not %s; what calls out is an "+
				"http or mcp tool",
			s.EgressClass,
		)
	}
	s.Execution.Pure = true
	return nil
}

// checkCompiles refuses to publish a program that does not compile, or not within
// the tool's limits.
func (r *Registry) checkCompiles(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	d := &v.Snapshot.Definition
	switch compiles := r.opts.Compilers[d.ImplementationType()]; {
	case v.Published:
		return nil
	case d.Artifact != nil:
		return r.checkUploaded(ctx, t.Tenant, d)
	case compiles == nil || t.ArtifactID != "":
		return nil
	default:
		return withinConfig(compiles(ctx, t.Tenant, d.Config))
	}
}

// withinConfig places a fault, if there is one, in the configuration.
func withinConfig(err error) error {
	if err == nil {
		return nil
	}
	return within("/implementation_config", err)
}

// checkUploaded compiles the program that a tool pins within the tool's limits:
// uploading it knew none.
func (r *Registry) checkUploaded(ctx context.Context, tenant tool.TenantID, d *tool.Definition) error {
	compiles := r.opts.Artifacts.CompileFor
	if compiles == nil {
		return nil
	}
	code, err := r.store.LoadArtifact(ctx, tenant, d.Artifact.ID, d.Artifact.Version)
	if err != nil {
		return fmt.Errorf("loading the tool's artifact: %w", err)
	}
	return withinConfig(compiles(ctx, tenant, code.Language, code.Content, d.Config))
}
