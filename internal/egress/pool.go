package egress

import (
	"net/http"
	"sync"

	"github.com/toolcrib/toolcrib/tool"
)

// maxTenants bounds the tenants with idle connections.
const maxTenants = 1024

// pool has separate transports for each tenant and policy. A tenant whose policy changes
// gets new ones; running requests finish on the old ones.
type pool struct {
	mu      sync.Mutex
	tenants map[tool.TenantID]*lane
	clock   uint64 // Use counter, for eviction.
}

// lane is the transports of a tenant under a policy.
type lane struct {
	key    string
	pooled *http.Transport // For repeatable requests.
	once   *http.Transport // For others.
	used   uint64
}

func (l *lane) close() {
	l.pooled.CloseIdleConnections()
	l.once.CloseIdleConnections()
}

// get returns the lane of a tenant under the policy with the given key.
func (p *pool) get(tenant tool.TenantID, key string, build func() *lane) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock++
	l, ok := p.tenants[tenant]
	if ok && l.key == key {
		l.used = p.clock
		return l
	}
	if ok {
		l.close()
	} else if len(p.tenants) >= maxTenants {
		p.evict()
	}
	l = build()
	l.key, l.used = key, p.clock
	p.tenants[tenant] = l
	return l
}

// evict drops the least recently used tenant.
func (p *pool) evict() {
	var oldest tool.TenantID
	var at *lane
	for tenant, l := range p.tenants {
		if at == nil || l.used < at.used {
			oldest, at = tenant, l
		}
	}
	if at != nil {
		at.close()
		delete(p.tenants, oldest)
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.tenants {
		l.close()
	}
	clear(p.tenants)
}
