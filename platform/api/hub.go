package api

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	pollInterval = time.Second      // Polls for events whose wake-up was lost.
	readTimeout  = 10 * time.Second // Of one read that followers share.
	linger       = time.Minute      // How long listening goes on without followers.
)

// hub notifies the followers of runs when there may be new events to read. All
// followers in a process share one LISTEN connection, which is open while there
// is a follower and for some time after, and one poll, because wake-ups may be lost.
// It is safe for concurrent use.
type hub struct {
	listen func(ctx context.Context, woken func(store.Wake)) error
	poll   time.Duration
	log    *slog.Logger

	mu    sync.Mutex
	feeds map[store.Wake]*feed
	// spaces counts the feeds of spaces by tenant.
	spaces map[tool.TenantID]int
	stop   context.CancelFunc // Stops listening and polling.
	idle   *time.Timer        // Calls stop; set while there are no feeds.
}

var _ runs.Wakes = (*hub)(nil)

// feed is the state shared by all followers of the same topic.
type feed struct {
	hub       *hub
	topic     store.Wake // Without a run: all runs of the tenant. See spaceTopic for spaces.
	followers int
	changed   chan struct{}    // Closed when there may be something new.
	reads     map[string]*read // Running reads, by the position that they read after.
}

// spaceTopic, before the id of a space, is the topic of the space in place of a run. Calls of any run
// of the tenant may change its messages, so that each wake-up of the tenant is one of its spaces.
const spaceTopic = "space/"

// read is a running read.
type read struct {
	done    chan struct{}
	passage passage
	err     error
}

func newHub(listen func(context.Context, func(store.Wake)) error, log *slog.Logger) *hub {
	return &hub{
		listen: listen, poll: pollInterval, log: log, feeds: map[store.Wake]*feed{}, spaces: map[tool.TenantID]int{},
	}
}

// join returns the feed of a topic, which the caller leaves.
func (h *hub) join(ctx context.Context, topic store.Wake) *feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[topic]
	if f == nil {
		f = &feed{hub: h, topic: topic, changed: make(chan struct{}), reads: map[string]*read{}}
		h.feeds[topic] = f
		if strings.HasPrefix(topic.RunID, spaceTopic) {
			h.spaces[topic.Tenant]++
		}
	}
	f.followers++
	if h.idle != nil {
		h.idle.Stop()
		h.idle = nil
	}
	if h.stop == nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		h.stop = stop
		go h.attend(ctx)
		go h.tick(ctx)
	}
	return f
}

// leave removes a follower from the feed.
func (f *feed) leave() {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if f.followers--; f.followers > 0 {
		return
	}
	delete(f.hub.feeds, f.topic)
	if strings.HasPrefix(f.topic.RunID, spaceTopic) {
		if f.hub.spaces[f.topic.Tenant]--; f.hub.spaces[f.topic.Tenant] == 0 {
			delete(f.hub.spaces, f.topic.Tenant)
		}
	}
	if len(f.hub.feeds) == 0 {
		f.hub.idle = time.AfterFunc(linger, f.hub.rest)
	}
}

// rest stops listening, unless there are followers again.
func (h *hub) rest() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.feeds) == 0 && h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

// Subscribe implements [runs.Wakes].
func (h *hub) Subscribe(
	ctx context.Context, tenant tool.TenantID, runID string,
) (news func() <-chan struct{}, leave func()) {
	f := h.join(ctx, store.Wake{Tenant: tenant, RunID: runID})
	return f.news, f.leave
}

// news returns a channel that is closed when there may be new events. Get it
// before reading, or events committed in between are missed.
func (f *feed) news() <-chan struct{} {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	return f.changed
}

// read returns the result of do for a position. Concurrent reads after the same
// position share one result, unless a wake-up arrived since that read began.
func (f *feed) read(
	ctx context.Context, after string, do func(ctx context.Context, after string) (passage, error),
) (passage, error) {
	f.hub.mu.Lock()
	r, shared := f.reads[after]
	if !shared {
		r = &read{done: make(chan struct{})}
		f.reads[after] = r
	}
	f.hub.mu.Unlock()
	if !shared {
		f.lead(ctx, r, after, do)
	}
	select {
	case <-r.done:
		return r.passage, r.err
	case <-ctx.Done():
		return passage{}, ctx.Err()
	}
}

// lead reads for all callers that share r, even if the one that began it
// leaves.
func (f *feed) lead(
	ctx context.Context, r *read, after string, do func(ctx context.Context, after string) (passage, error),
) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	go func() {
		defer cancel()
		r.passage, r.err = do(ctx, after)
		f.hub.mu.Lock()
		if f.reads[after] == r {
			delete(f.reads, after)
		}
		f.hub.mu.Unlock()
		close(r.done)
	}()
}

// attend listens for wake-ups. If that fails, followers rely on the poll.
func (h *hub) attend(ctx context.Context) {
	for {
		err := h.listen(ctx, h.woken)
		if ctx.Err() != nil || errors.Is(err, store.ErrClosed) {
			return
		}
		h.log.WarnContext(ctx, "not listening for events; they are polled", slog.Any("error", err))
		select {
		case <-ctx.Done():
			return
		case <-time.After(h.poll):
		}
	}
}

// tick wakes all followers at an interval.
func (h *hub) tick(ctx context.Context) {
	tick := time.NewTicker(h.poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.mu.Lock()
		for _, f := range h.feeds {
			f.wake()
		}
		h.mu.Unlock()
	}
}

// woken wakes the followers of a run, and those of its tenant.
func (h *hub) woken(w store.Wake) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, topic := range []store.Wake{w, {Tenant: w.Tenant}} {
		if f, ok := h.feeds[topic]; ok {
			f.wake()
		}
	}
	if h.spaces[w.Tenant] == 0 {
		return
	}
	for topic, f := range h.feeds {
		if topic.Tenant == w.Tenant && strings.HasPrefix(topic.RunID, spaceTopic) {
			f.wake()
		}
	}
}

// wake is called with the hub's lock held.
func (f *feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
	clear(f.reads)
}
