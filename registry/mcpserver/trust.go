package mcpserver

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Trust says whether results of a server's tools taint the runs that get them, of runs that begin from then on. A
// tool's own execution.trust comes before it. It needs the permission to change the tenant's settings: who may only
// write tools, and an agent, cannot change it. A server is not trusted until then, and not any more where its address,
// transport or command changes.
func (r *Registry) Trust(ctx context.Context, p tool.Principal, slugOrID string, trusted bool) (Server, error) {
	if err := refusal.Unpermitted(p, refusal.TenantsWrite); err != nil {
		return Server{}, err
	}
	s, err := r.Get(ctx, p, slugOrID)
	if err != nil {
		return Server{}, err
	}
	if err := definition.CheckRevision("server", s.Slug, s.Revision, r.revision); err != nil {
		return Server{}, err
	}
	if s.Trusted == trusted {
		return s, nil
	}
	saved, err := r.store.TrustServer(ctx, s, trusted)
	if err != nil {
		return Server{}, fmt.Errorf("changing the trust of server %q: %w", s.Slug, err)
	}
	return saved, nil
}
