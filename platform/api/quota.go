package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/tool"
)

// registerQuotas adds the endpoint of quotas. The platform sets them with the command line, by the
// owner's role.
func (s *server) registerQuotas() {
	handle(s, route{
		id: "listQuotas", method: http.MethodGet, path: "/v1/quotas", tag: "usage", permission: UsageRead,
		summary: "List the quotas of the tenant, with what is used of each",
		detail: "The platform sets them. What would be beyond one is refused: with 409 where something has to be deleted " +
			"first, and with 429 for runs and idempotency keys, which end by themselves. The problem names the quota.",
	}, s.listQuotas)
}

func (s *server) listQuotas(ctx context.Context, p tool.Principal, _ *struct{}) (*listed[v1.Quota], error) {
	found, err := s.cfg.Store.ListQuotas(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	out := v1.Page[v1.Quota]{Items: make([]v1.Quota, len(found))}
	for i, q := range found {
		if most := s.runs.MaxUnfinished(); q.Name == quota.Runs && q.Limit == nil && most > 0 {
			q.Limit, q.Origin = new(int64(most)), quota.OfServers
		}
		out.Items[i] = v1.FromQuota(q)
	}
	return answer(out), nil
}
