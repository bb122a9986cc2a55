package artifact

import (
	"sync"

	"github.com/toolcrib/toolcrib/tool"
)

// maxKept bounds the memory of cached programs, in bytes.
const maxKept = 64 << 20

// shelf caches parsed programs by tenant. When it is full, it evicts programs
// of the tenant with the largest share, so that one tenant cannot evict the
// programs of smaller ones. Its zero value is ready to use. It is safe for
// concurrent use.
type shelf struct {
	mu      sync.RWMutex
	tenants map[tool.TenantID]*part
	kept    int // Bytes of all.
}

// part is one tenant's share of the cache.
type part struct {
	programs map[string]*program // By configuration, or by what is pinned.
	kept     int                 // Their bytes.
}

// get returns a cached program, or nil.
func (s *shelf) get(tenant tool.TenantID, key string) *program {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if p := s.tenants[tenant]; p != nil {
		return p.programs[key]
	}
	return nil
}

// put caches a program of the given size in bytes.
func (s *shelf) put(tenant tool.TenantID, key string, p *program, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.tenants[tenant]; own != nil && own.programs[key] != nil {
		return
	}
	for s.kept+size > maxKept && len(s.tenants) > 0 {
		s.forgetMost()
	}
	if s.tenants == nil {
		s.tenants = make(map[tool.TenantID]*part)
	}
	own := s.tenants[tenant]
	if own == nil {
		own = &part{programs: make(map[string]*program)}
		s.tenants[tenant] = own
	}
	own.programs[key] = p
	own.kept += size
	s.kept += size
}

func (s *shelf) forgetMost() {
	var most *part
	var whose tool.TenantID
	for tenant, p := range s.tenants {
		if most == nil || p.kept > most.kept {
			most, whose = p, tenant
		}
	}
	s.kept -= most.kept
	delete(s.tenants, whose)
}
