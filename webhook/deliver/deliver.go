// Package deliver sends the deliveries of webhooks: it makes them of new events, leases those that
// are due, so that several servers share the work, and sends each until a receiver takes it, or
// no attempt is left.
//
// A delivery is sent at least once. A server that dies leaves its leases to others, which send
// under the same id. All requests go through package egress.
package deliver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// Defaults of [Config].
const (
	DefaultInterval   = time.Second
	DefaultTimeout    = 15 * time.Second
	DefaultConcurrent = 32
	DefaultEach       = 4
)

const (
	// leaseMargin is how much longer than the time-out of an attempt a lease lasts.
	leaseMargin = 15 * time.Second
	// recordTimeout bounds the recording of an attempt.
	recordTimeout = 5 * time.Second
	// stopGrace is how long attempts may take after Run was told to end.
	stopGrace = 5 * time.Second
	// tenantBatch is the number of tenants served in one pass.
	tenantBatch   = 100
	sweepInterval = time.Hour
)

// Config configures a [Deliverer].
type Config struct {
	Outbox webhook.Outbox // Required.
	Vault  *vault.Vault   // Opens the secrets. Required.
	Gate   *egress.Gate   // Sends. Required; the caller closes it.
	// Interval is the time between two looks for work. Defaults to [DefaultInterval].
	Interval time.Duration
	// Timeout bounds an attempt. Defaults to [DefaultTimeout].
	Timeout time.Duration
	// Lease is how long a delivery is this server's. Defaults to 15 seconds more than Timeout;
	// after it another server attempts what a dead one had.
	Lease time.Duration
	// Concurrent bounds the attempts of this server at once. Defaults to [DefaultConcurrent].
	Concurrent int
	// Each bounds the attempts of one webhook at once, over all servers. Defaults to
	// [DefaultEach].
	Each int
	// PerTenant bounds the attempts of one tenant at once by this server, so that slow receivers of
	// one leave room for others. Defaults to a quarter of Concurrent, but not less than Each.
	PerTenant int
	// Retry returns how long after an attempt, counted from 1, the next one is due; false for
	// none. Defaults to ten attempts over about a day, with jitter.
	Retry    func(attempt int) (time.Duration, bool)
	Observer Observer     // Nil for none.
	Logger   *slog.Logger // Defaults to discarding.
}

// Outcomes of attempts, as an [Observer] is told them.
const (
	Delivered = "delivered"
	Retried   = "retried"  // It failed, and another attempt follows.
	Failed    = "failed"   // No other follows.
	Returned  = "returned" // The server stops; another one attempts it.
	Lost      = "lost"     // Another server had it, or the outcome could not be recorded.
)

// Observer counts what becomes of deliveries. It is safe for concurrent use.
type Observer interface {
	// Attempted is called after each attempt.
	Attempted(ctx context.Context, outcome string, took time.Duration)
	// Over is called when a delivery is over, delivered or failed, so long after its event.
	Over(ctx context.Context, outcome string, after time.Duration)
}

// Deliverer delivers until it is told to end. Any number of them may share a database.
type Deliverer struct {
	cfg   Config
	log   *slog.Logger
	slots chan struct{} // One token for each attempt.
	freed chan struct{} // Receives when an attempt has ended.
	swept time.Time

	mu   sync.Mutex
	busy map[tool.TenantID]int // Attempts of each tenant; none is zero.
}

// New returns a deliverer. It fails where a required field is missing, or the lease is not longer
// than the time-out.
func New(cfg Config) (*Deliverer, error) {
	if cfg.Outbox == nil || cfg.Vault == nil || cfg.Gate == nil {
		return nil, errors.New("deliver: Config.Outbox, Vault and Gate are required")
	}
	cfg.Interval = cmp.Or(cfg.Interval, DefaultInterval)
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.Lease = cmp.Or(cfg.Lease, cfg.Timeout+leaseMargin)
	cfg.Concurrent, cfg.Each = cmp.Or(cfg.Concurrent, DefaultConcurrent), cmp.Or(cfg.Each, DefaultEach)
	cfg.PerTenant = cmp.Or(cfg.PerTenant, max(cfg.Concurrent/4, cfg.Each))
	if cfg.Lease <= cfg.Timeout {
		return nil, errors.New("deliver: Config.Lease must be longer than Timeout")
	}
	if cfg.Retry == nil {
		cfg.Retry = retryDelay
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Deliverer{
		cfg: cfg, log: cfg.Logger, slots: make(chan struct{}, cfg.Concurrent), freed: make(chan struct{}, 1),
		swept: time.Now(), busy: map[tool.TenantID]int{},
	}, nil
}

// Run delivers until ctx ends. Attempts under way then have a few seconds to end; the others are
// returned, for other servers to make at once. It is called once.
func (d *Deliverer) Run(ctx context.Context) {
	attempting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var attempts sync.WaitGroup
	for ctx.Err() == nil {
		wait := d.freed
		if !d.pass(ctx, attempting, &attempts) {
			wait = nil // There is nothing more before something happens.
		}
		select {
		case <-ctx.Done():
		case <-wait:
		case <-time.After(d.cfg.Interval):
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		attempts.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(stopGrace):
		stop()
		<-ended
	}
}

// pass looks for work once, and starts attempts. It reports whether it did.
func (d *Deliverer) pass(ctx, attempting context.Context, attempts *sync.WaitGroup) (started bool) {
	d.sweep(ctx)
	tenants, err := d.cfg.Outbox.WebhookTenants(ctx, tenantBatch)
	if err != nil {
		d.warn(ctx, "looking for work", err)
		return false
	}
	for _, tenant := range tenants {
		if _, err := d.cfg.Outbox.MakeDeliveries(ctx, tenant); err != nil {
			d.warn(ctx, "making deliveries", err, slog.String("tenant_id", string(tenant)))
		}
		free := d.room(tenant)
		if free <= 0 {
			continue
		}
		due, err := d.cfg.Outbox.ClaimDeliveries(ctx, tenant, webhook.Claim{
			Most: free, Each: d.cfg.Each, Lease: d.cfg.Lease,
		})
		if err != nil {
			d.warn(ctx, "claiming deliveries", err, slog.String("tenant_id", string(tenant)))
		}
		for _, one := range due {
			started = true
			d.take(tenant)
			attempts.Go(func() {
				defer d.free(tenant)
				d.attempt(attempting, one)
			})
		}
	}
	return started || len(d.slots) > 0
}

// room returns how many attempts of a tenant may begin. Only the goroutine that asks takes slots.
func (d *Deliverer) room(tenant tool.TenantID) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return min(cap(d.slots)-len(d.slots), d.cfg.PerTenant-d.busy[tenant])
}

// take takes a slot for an attempt of a tenant.
func (d *Deliverer) take(tenant tool.TenantID) {
	d.slots <- struct{}{}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy[tenant]++
}

// free returns a slot.
func (d *Deliverer) free(tenant tool.TenantID) {
	d.mu.Lock()
	if d.busy[tenant]--; d.busy[tenant] <= 0 {
		delete(d.busy, tenant)
	}
	d.mu.Unlock()
	<-d.slots
	select {
	case d.freed <- struct{}{}:
	default:
	}
}

// sweep deletes old deliveries, once an hour.
func (d *Deliverer) sweep(ctx context.Context) {
	if time.Since(d.swept) < sweepInterval {
		return
	}
	d.swept = time.Now()
	if _, err := d.cfg.Outbox.SweepDeliveries(ctx); err != nil {
		d.warn(ctx, "deleting old deliveries", err)
	}
}

// attempt sends a delivery and records how that went.
func (d *Deliverer) attempt(ctx context.Context, due webhook.Due) {
	begun := time.Now()
	sending, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	outcome := d.send(sending, due)
	cancel()
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	about := []any{
		slog.String("tenant_id", string(due.Tenant)), slog.String("webhook_id", due.WebhookID),
		slog.String("delivery_id", due.ID), slog.Int("attempt", due.Attempts),
	}
	if ctx.Err() != nil && outcome.Status != webhook.Delivered { // This server stops.
		d.observe(recording, due, Returned, time.Since(begun))
		if err := d.cfg.Outbox.ReleaseDelivery(recording, due.Tenant, due.ID, due.Fence); err != nil {
			d.warn(recording, "returning a delivery", err, about...)
		}
		return
	}
	outcome.Tenant, outcome.ID, outcome.Fence, outcome.Duration = due.Tenant, due.ID, due.Fence, time.Since(begun)
	disabled, err := d.cfg.Outbox.EndAttempt(recording, outcome)
	name := outcomes[outcome.Status]
	if err != nil {
		name = Lost
	}
	d.observe(recording, due, name, outcome.Duration)
	switch {
	case tool.KindOf(err) == tool.Conflict && err != nil:
		d.log.InfoContext(recording, "another server has a webhook delivery", about...)
	case err != nil: // The lease ends, and it is attempted again.
		d.warn(recording, "recording an attempt", err, about...)
	case disabled:
		d.log.WarnContext(recording, "a webhook was disabled: its deliveries fail",
			append(about, slog.String("reason", outcome.Error))...)
	case outcome.Status != webhook.Delivered:
		d.log.InfoContext(recording, "a webhook delivery failed",
			append(about, slog.String("status", string(outcome.Status)), slog.String("reason", outcome.Error))...)
	}
}

// outcomes name what became of attempts that were recorded.
var outcomes = map[webhook.DeliveryStatus]string{
	webhook.Delivered: Delivered, webhook.Pending: Retried, webhook.Failed: Failed,
}

func (d *Deliverer) observe(ctx context.Context, due webhook.Due, outcome string, took time.Duration) {
	if d.cfg.Observer == nil {
		return
	}
	d.cfg.Observer.Attempted(ctx, outcome, took)
	if outcome == Delivered || outcome == Failed {
		d.cfg.Observer.Over(ctx, outcome, time.Since(due.At))
	}
}

// warn logs that a step failed, which is done again later.
func (d *Deliverer) warn(ctx context.Context, step string, err error, about ...any) {
	if ctx.Err() == nil {
		d.log.WarnContext(ctx, "delivering webhooks failed",
			append(about, slog.String("step", step), slog.Any("error", err))...)
	}
}
