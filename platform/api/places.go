package api

import (
	"fmt"
	"sync"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// places limits how many requests or streams each tenant has at a time, so that
// no tenant takes all connections and reads. It is safe for concurrent use.
type places struct {
	most   int // For each tenant.
	refuse func(most int) *v1.Problem

	mu sync.Mutex
	of map[tool.TenantID]int
}

func newPlaces(most int, refuse func(most int) *v1.Problem) *places {
	return &places{most: most, refuse: refuse, of: map[tool.TenantID]int{}}
}

// begin takes a slot, if there is a free one. The caller releases it.
func (p *places) begin(tenant tool.TenantID) (end func(), refused *v1.Problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[tenant] >= p.most {
		return nil, p.refuse(p.most)
	}
	p.of[tenant]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.of[tenant]--; p.of[tenant] == 0 {
			delete(p.of, tenant)
		}
	}, nil
}

// manyStreamsRetry is when a slot may have become free, in seconds.
const manyStreamsRetry = 5

// manyStreams refuses a stream of a tenant that has reached its limit.
func manyStreams(most int) *v1.Problem {
	p := refusal(string(tool.RateLimited), fmt.Sprintf(
		"the tenant has %d streams open at this server, which is the limit: close one, or follow /v1/events once", most))
	p.RetryAfter = manyStreamsRetry
	return p
}

// manyTopics refuses a topic of a tenant that has reached its limit.
func manyTopics(most int) *v1.Problem {
	p := refusal(string(tool.RateLimited), fmt.Sprintf(
		"the tenant follows %d topics at this server, which is the limit: follow fewer, or runs in place of each run", most))
	p.RetryAfter = manyStreamsRetry
	return p
}
