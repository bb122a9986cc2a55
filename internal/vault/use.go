package vault

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	useInterval = time.Minute // How far apart uses are noted.
	useTimeout  = 5 * time.Second
	useQueue    = 256
)

// uses notes when credentials were used, behind the calls that use them. What
// does not fit the queue is not noted: the next use will be.
type uses struct {
	store Store
	log   *slog.Logger

	mu      sync.Mutex
	closed  bool
	running bool // A goroutine empties waiting.
	waiting []use
	done    sync.WaitGroup
}

type use struct {
	tenant tool.TenantID
	id     string
}

func newUses(store Store, log *slog.Logger) *uses { return &uses{store: store, log: log} }

// note has a use noted, unless one was a moment ago. It does not wait.
func (u *uses) note(c Credential) {
	if c.LastUsedAt != nil && time.Since(*c.LastUsedAt) < useInterval {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed || len(u.waiting) >= useQueue {
		return
	}
	u.waiting = append(u.waiting, use{c.Tenant, c.ID})
	if !u.running {
		u.running = true
		u.done.Go(u.run)
	}
}

func (u *uses) run() {
	noted := make(map[use]bool) // Those of one burst, once.
	for {
		next, ok := u.next()
		if !ok {
			return
		}
		if noted[next] {
			continue
		}
		noted[next] = true
		ctx, cancel := context.WithTimeout(context.Background(), useTimeout)
		if err := u.store.NoteUse(ctx, next.tenant, next.id); err != nil {
			u.log.WarnContext(ctx, "the use of a credential was not noted",
				slog.String("tenant_id", string(next.tenant)), slog.String("credential_id", next.id), slog.Any("error", err))
		}
		cancel()
	}
}

func (u *uses) next() (use, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting) == 0 || u.closed {
		u.running = false
		return use{}, false
	}
	next := u.waiting[0]
	u.waiting = u.waiting[1:]
	return next, true
}

// close waits for the use that is being noted.
func (u *uses) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.done.Wait()
}
