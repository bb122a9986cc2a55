package runs

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// workflowID returns the workflow id of a new run of an agent or tool. The tenant's slug in it is for
// people who look at Temporal.
func (s *Service) workflowID(ctx context.Context, tenant tool.TenantID, name, runID string) (string, error) {
	slug, known := s.slugs.Load(tenant)
	if !known {
		read, err := s.cfg.Store.TenantSlug(ctx, tenant)
		if err != nil {
			return "", fmt.Errorf("reading the tenant's slug: %w", err)
		}
		s.slugs.Store(tenant, read)
		slug = read
	}
	return wire.NamedWorkflowID(wire.TenantSegment(tenant, slug.(string)), name, runID), nil //nolint:errcheck // It is one.
}
