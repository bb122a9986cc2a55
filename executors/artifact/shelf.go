package artifact

import (
	"sync"

	"github.com/toolcrib/toolcrib/tool"
)

// maxKept bounds the memory of programs that are kept ready, in bytes.
const maxKept = 64 << 20

// shelf keeps programs ready, those of each tenant apart. Where there is no more
// room, it forgets those of the tenant that has the most: no tenant's programs
// make way for those of one that has more. Its zero value is ready. It is safe
// for concurrent use.
type shelf struct {
	mu      sync.RWMutex
	tenants map[tool.TenantID]*part
	kept    int // Bytes of all.
}

// part is what a shelf keeps of one tenant.
type part struct {
	programs map[string]*program // By configuration, or by what is pinned.
	kept     int                 // Their bytes.
}

// get returns a program that is kept; nil without one.
func (s *shelf) get(tenant tool.TenantID, key string) *program {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if p := s.tenants[tenant]; p != nil {
		return p.programs[key]
	}
	return nil
}

// put keeps a program of so many bytes.
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
