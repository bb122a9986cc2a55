package vault

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	useInterval = time.Minute // Minimum interval between recorded uses.
	useTimeout  = 5 * time.Second
	useQueue    = 256
)

// uses records the uses of credentials in the background. If the queue is full, a use is not
// recorded.
type uses struct {
	store Store
	log   *slog.Logger

	mu      sync.Mutex
	closed  bool
	running bool // A goroutine drains waiting.
	waiting []use
	done    sync.WaitGroup
}

type use struct {
	tenant tool.TenantID
	id     string
}

func newUses(store Store, log *slog.Logger) *uses { return &uses{store: store, log: log} }

// note queues a use, unless one was recorded recently. It does not block.
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
	noted := make(map[use]bool) // Uses of one batch.
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
			u.log.WarnContext(ctx, "recording the use of a credential failed",
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

// close waits for the use that is being recorded.
func (u *uses) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.done.Wait()
}
