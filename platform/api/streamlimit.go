package api

import (
	"fmt"
	"sync"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// manyStreamsRetry is when a place may have become free, in seconds.
const manyStreamsRetry = 5

// openStreams counts the streams of each tenant, so that no tenant takes all
// the connections and reads that the others need too. It is safe for concurrent
// use.
type openStreams struct {
	most int

	mu sync.Mutex
	of map[tool.TenantID]int
}

func newOpenStreams(most int) *openStreams {
	return &openStreams{most: most, of: map[tool.TenantID]int{}}
}

// begin takes a place, which the caller gives back, if there is one.
func (o *openStreams) begin(tenant tool.TenantID) (end func(), refused *v1.Problem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of[tenant] >= o.most {
		p := refusal(string(tool.RateLimited), fmt.Sprintf("the tenant has %d streams open here, and may have no more: close one, or follow /v1/events once", o.most))
		p.RetryAfter = manyStreamsRetry
		return nil, p
	}
	o.of[tenant]++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.of[tenant]--; o.of[tenant] == 0 {
			delete(o.of, tenant)
		}
	}, nil
}
