package reconcile

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/toolcrib/toolcrib/internal/telemetry"
)

var passBounds = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// metrics are the instruments of a reconciler.
type metrics struct {
	found    metric.Int64Counter
	closed   metric.Int64Counter
	failed   metric.Int64Counter
	duration metric.Float64Histogram
	leading  atomic.Bool
	passedAt atomic.Int64 // Unix nanoseconds of this process's last pass; zero for none.
}

func newMetrics(provider metric.MeterProvider) (*metrics, error) {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter, out := provider.Meter(telemetry.Scope), &metrics{}
	var errs [6]error
	out.found, errs[0] = meter.Int64Counter("toolcrib.reconcile.found",
		metric.WithDescription("Findings of all passes."))
	out.closed, errs[1] = meter.Int64Counter("toolcrib.reconcile.closed",
		metric.WithDescription("Findings that the reconciler closed."))
	out.failed, errs[2] = meter.Int64Counter("toolcrib.reconcile.failures", metric.WithDescription("Passes that failed."))
	out.duration, errs[3] = meter.Float64Histogram("toolcrib.reconcile.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of passes."), metric.WithExplicitBucketBoundaries(passBounds...))
	_, errs[4] = meter.Int64ObservableGauge("toolcrib.reconcile.leader",
		metric.WithDescription("Whether this process holds the lease: 0 or 1."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			var leads int64
			if out.leading.Load() {
				leads = 1
			}
			o.Observe(leads)
			return nil
		}))
	_, errs[5] = meter.Float64ObservableGauge("toolcrib.reconcile.pass.age", metric.WithUnit("s"),
		metric.WithDescription("Time since this process's last complete pass, while it leads."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			if at := out.passedAt.Load(); at > 0 && out.leading.Load() {
				o.Observe(time.Since(time.Unix(0, at)).Seconds())
			}
			return nil
		}))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return out, nil
}

// expose initializes the counter of each reason, so that the first closure is an increase.
func (m *metrics) expose(ctx context.Context) {
	for _, reason := range Reasons() {
		m.closed.Add(ctx, 0, metric.WithAttributes(
			attribute.String("subject", string(RunSubject)), attribute.String("reason", string(reason))))
	}
}

func (m *metrics) count(ctx context.Context, f Finding) {
	with := metric.WithAttributes(attribute.String("subject", string(f.Subject)),
		attribute.String("reason", string(f.Reason)))
	m.found.Add(ctx, 1, with)
	if f.Closed {
		m.closed.Add(ctx, 1, with)
	}
}

// passed records a pass.
func (m *metrics) passed(ctx context.Context, took time.Duration, err error) {
	if err != nil {
		m.failed.Add(ctx, 1)
		return
	}
	m.duration.Record(ctx, took.Seconds())
	m.passedAt.Store(time.Now().UnixNano())
}
