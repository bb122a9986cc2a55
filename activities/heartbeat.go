package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// maxHeartbeatInterval bounds how long a cancellation goes unnoticed, unless the
// worker throttles heartbeats more.
const maxHeartbeatInterval = 2 * time.Second

// heartbeat sends heartbeats to Temporal with the latest progress until the returned function is
// called; cancellation is delivered by them. It continues after the activity's context has ended,
// because a result is still settled then, and the settlement may have to wait.
func heartbeat(ctx context.Context, latest ...func() any) (stop func()) {
	info := activity.GetInfo(ctx)
	timeout := beatTimeout(info)
	if timeout <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(min(timeout/3, maxHeartbeatInterval))
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				var details []any
				for _, fn := range latest {
					details = append(details, fn())
				}
				if !info.IsLocalActivity {
					activity.RecordHeartbeat(context.WithoutCancel(ctx), details...)
				}
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// beatTimeout is how long an activity may be without a heartbeat. A local one sends none;
// its process has the workflow's task for as long as it is awake.
func beatTimeout(info activity.Info) time.Duration {
	if info.IsLocalActivity {
		return inlineFreeze
	}
	return info.HeartbeatTimeout
}

// pulse tells whether the process of an activity slept.
type pulse struct {
	beating sync.Mutex
	timeout time.Duration // Without a heartbeat for so long, another attempt may be under way.
	beat    time.Time     // On the monotonic clock, which runs on while a process is frozen.
	slept   bool
}

// start is called when the activity begins.
func (p *pulse) start(ctx context.Context) {
	p.timeout, p.beat = beatTimeout(activity.GetInfo(ctx)), time.Now()
}

func (p *pulse) awake() bool {
	p.slept = p.slept || p.timeout > 0 && time.Since(p.beat) > p.timeout
	return !p.slept
}

// beats is called with each heartbeat.
func (p *pulse) beats() {
	p.beating.Lock()
	defer p.beating.Unlock()
	p.awake()
	p.beat = time.Now()
}

// alive fails where the process slept for longer than heartbeats may stay away: then
// another attempt may have taken over, and this one must not continue.
func (p *pulse) alive() error {
	p.beating.Lock()
	defer p.beating.Unlock()
	if !p.awake() {
		return errSuperseded
	}
	return nil
}

// progressReport is the last progress of a running call.
type progressReport struct {
	pulse

	mu   sync.Mutex
	last tool.Progress
}

func (r *progressReport) set(p tool.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = p
}

func (r *progressReport) get() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beats()
	return r.last
}

// advanceReport keeps how far an Advance came, and whether its process slept.
type advanceReport struct {
	pulse

	mu   sync.Mutex
	last wire.AdvanceProgress
}

func (r *advanceReport) set(p wire.AdvanceProgress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = p
}

func (r *advanceReport) step(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.Step, r.last.Model = name, 0
}

func (r *advanceReport) tool(p tool.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.Tool = &p
}

// get is asked for with each heartbeat.
func (r *advanceReport) get() any {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beats()
	return r.last
}
