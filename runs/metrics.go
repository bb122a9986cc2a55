package runs

import (
	"context"
	"errors"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/telemetry"
)

// Subjects of what [Service.DispatchUntil] makes up for.
const (
	lateStart    = "start"    // A run that was recorded, and whose workflow had not been started.
	lateExpiry   = "expiry"   // A request that nobody answered in time, and whose workflow did not end it.
	lateDelivery = "delivery" // A decision or result that its workflow had not been given.
	lateWake     = "wake"     // Messages of a space that had not woken an agent.
)

// metrics are the instruments of a service.
type metrics struct {
	found, closed, failed metric.Int64Counter
	backlog               atomic.Pointer[agent.StartBacklog] // As it was seen last.
}

func newMetrics(provider metric.MeterProvider) (*metrics, error) {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter, m := provider.Meter(telemetry.Scope), &metrics{}
	var errs [5]error
	m.found, errs[0] = meter.Int64Counter("toolcrib.overdue.found",
		metric.WithDescription("Starts, expiries, deliveries and wakes that were overdue, each time they were found."))
	m.closed, errs[1] = meter.Int64Counter("toolcrib.overdue.closed",
		metric.WithDescription("Those of them that were made."))
	m.failed, errs[2] = meter.Int64Counter("toolcrib.overdue.failures",
		metric.WithDescription("Rounds over them that failed."))
	_, errs[3] = meter.Int64ObservableGauge("toolcrib.starts.waiting",
		metric.WithDescription("Recorded runs whose workflows Temporal has not confirmed, of all tenants."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			if b := m.backlog.Load(); b != nil {
				o.Observe(int64(b.Count))
			}
			return nil
		}))
	_, errs[4] = meter.Float64ObservableGauge("toolcrib.starts.waiting.age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest of them."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			if b := m.backlog.Load(); b != nil {
				o.Observe(b.OldestS)
			}
			return nil
		}))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	for _, subject := range []string{lateStart, lateExpiry, lateDelivery, lateWake} { // The first one is an increase.
		m.count(context.Background(), subject, 0, 0)
	}
	return m, nil
}

// count adds what a round over a subject found, and what of it was made.
func (m *metrics) count(ctx context.Context, subject string, found, closed int) {
	with := metric.WithAttributes(attribute.String("subject", subject))
	m.found.Add(ctx, int64(found), with)
	m.closed.Add(ctx, int64(closed), with)
}

func (m *metrics) failure(ctx context.Context, subject string) {
	m.failed.Add(ctx, 1, metric.WithAttributes(attribute.String("subject", subject)))
}
