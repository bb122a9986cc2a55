package telemetry

import (
	"context"
	"time"
)

// Webhooks counts attempts at deliveries of webhooks.
func (t *Telemetry) Webhooks() Deliveries { return Deliveries{t.metrics} }

// Deliveries implements the observer of package deliver.
type Deliveries struct{ counts *metrics }

// Attempted counts an attempt by its outcome, and how long it took.
func (d Deliveries) Attempted(ctx context.Context, outcome string, took time.Duration) {
	d.counts.observe(ctx, d.counts.deliveries, took, labels{{outcomeLabel, outcome}})
}

// Over counts a delivery that is over by its outcome, and how long after its event that was.
func (d Deliveries) Over(ctx context.Context, outcome string, after time.Duration) {
	d.counts.observe(ctx, d.counts.delays, after, labels{{outcomeLabel, outcome}})
}
