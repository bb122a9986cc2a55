package registry

import (
	"context"
	"errors"

	"github.com/toolcrib/toolcrib/tool"
)

// pin pins the artifact that a tool names, see [artifact.Registry.Pin]. A draft
// may name an artifact that does not exist yet: it then has no pin and cannot be
// published. A pipeline must exist. The warnings also list what else the tool
// refers to that does not exist, see [Advice].
func (r *Registry) pin(ctx context.Context, t *tool.Tool) (warnings []string, err error) {
	if err := r.checkPipelineOrBatch(ctx, t.Tenant, &t.Definition); err != nil {
		return nil, err
	}
	err = r.artifacts.Pin(ctx, t)
	if e, ok := errors.AsType[*tool.Error](err); ok && (e.Kind == tool.NotFound || e.Kind == tool.Invalid) {
		if !r.dry {
			warnings = []string{"it cannot be published as it is: " + e.Msg}
		}
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return append(warnings, r.advise(ctx, t)...), nil
}

// checkPin is [artifact.Registry.CheckPin], except that an artifact may be
// absent where nothing is written: the same batch may create it.
func (r *Registry) checkPin(ctx context.Context, t *tool.Tool, v *tool.Version) error {
	err := r.artifacts.CheckPin(ctx, t, v)
	if r.dry && v.Snapshot.Artifact == nil && tool.KindOf(err) == tool.NotFound {
		return nil
	}
	return err
}
