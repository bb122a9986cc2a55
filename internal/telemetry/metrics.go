package telemetry

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/toolcrib/toolcrib/tool"
)

// none is the label for no kind of failure or no type.
const none = "none"

// Bounds of the histograms, in seconds.
var (
	callBounds  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	modelBounds = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600}
	delayBounds = []float64{.1, .5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400, 172800}
)

// metrics are the instruments.
type metrics struct {
	off   bool
	types []tool.Implementation // Those with their own label.

	calls       metric.Int64Counter
	attempts    metric.Int64Counter
	running     metric.Int64UpDownCounter
	duration    metric.Float64Histogram
	transitions metric.Int64Counter
	lost        metric.Int64Counter
	turns       metric.Float64Histogram
	paced       metric.Float64Histogram
	tokens      metric.Int64Counter
	refusals    metric.Int64Counter
	drifts      metric.Int64Counter
	children    metric.Int64UpDownCounter
	starts      metric.Int64Counter
	ends        metric.Int64Counter
	waits       metric.Float64Histogram
	programs    metric.Float64Histogram
	deliveries  metric.Float64Histogram
	delays      metric.Float64Histogram

	// options caches the sets of labels, of which there are few.
	options sync.Map // labels -> metric.MeasurementOption
}

func newMetrics(m metric.Meter) (*metrics, error) {
	out := &metrics{}
	var errs []error
	counter := func(into *metric.Int64Counter, name, description string) {
		c, err := m.Int64Counter(name, metric.WithDescription(description))
		*into, errs = c, append(errs, err)
	}
	histogram := func(into *metric.Float64Histogram, name, description string, bounds []float64) {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
			metric.WithExplicitBucketBoundaries(bounds...))
		*into, errs = h, append(errs, err)
	}
	counter(&out.calls, "toolcrib.calls", "Calls that ended, each once.")
	counter(&out.attempts, "toolcrib.call.attempts", "Attempts of calls, by outcome.")
	histogram(&out.duration, "toolcrib.call.duration", "Duration of attempts of calls.", callBounds)
	counter(&out.transitions, "toolcrib.ledger.transitions", "Moves of effects into a phase of the ledger.")
	counter(&out.lost, "toolcrib.ledger.lost", "Moves that lost to another attempt.")
	histogram(&out.turns, "toolcrib.model.turn.duration", "Duration of model turns.", modelBounds)
	histogram(&out.paced, "toolcrib.model.rate.wait", "Time that requests waited for rate limits of model providers.",
		modelBounds)
	counter(&out.tokens, "toolcrib.model.tokens", "Tokens that model turns consumed.")
	counter(&out.refusals, "toolcrib.egress.refusals", "Requests that the egress guard refused.")
	counter(
		&out.drifts, "toolcrib.egress.drifts", "Calls refused because they exceed their tool's declared egress class.",
	)
	counter(&out.starts, "toolcrib.sandbox.starts", "Children of the sandbox that were started.")
	counter(&out.ends, "toolcrib.sandbox.ends", "Children of the sandbox that ended, by reason.")
	histogram(&out.waits, "toolcrib.sandbox.queue.wait", "Time that programs waited for a child.", callBounds)
	histogram(&out.programs, "toolcrib.sandbox.run.duration", "Duration of programs, by outcome.", callBounds)
	histogram(&out.deliveries, "toolcrib.webhook.attempt.duration",
		"Duration of attempts at deliveries of webhooks, by outcome.", callBounds)
	histogram(&out.delays, "toolcrib.webhook.delivery.delay",
		"Time from an event to the end of its delivery to a webhook, by outcome.", delayBounds)
	var err error
	out.children, err = m.Int64UpDownCounter("toolcrib.sandbox.children",
		metric.WithDescription("Current children of the sandbox."))
	errs = append(errs, err)
	out.running, err = m.Int64UpDownCounter("toolcrib.calls.running",
		metric.WithDescription("Attempts that are running in this process."))
	return out, errors.Join(append(errs, err)...)
}

// begin initializes rare counters to zero, so that the first event is an increase.
func (m *metrics) begin(types []tool.Implementation) {
	ctx := context.Background()
	for _, move := range []string{markSent, markUnsent, settle} {
		m.add(ctx, m.lost, 0, labels{{moveLabel, move}})
	}
	for _, i := range types {
		m.add(ctx, m.calls, 0, labels{
			{implementationLabel, string(i)}, {statusLabel, string(tool.StatusUnknown)}, {kindLabel, string(tool.Unknown)},
		})
	}
}

// labels is a set of labels: up to three keys with their values.
type labels [3]struct {
	key   attribute.Key
	value string
}

// with returns the option for a set of labels.
func (m *metrics) with(l labels) metric.MeasurementOption {
	if o, ok := m.options.Load(l); ok {
		return o.(metric.MeasurementOption) //nolint:errcheck // Nothing else is stored.
	}
	var kvs []attribute.KeyValue
	for _, label := range l {
		if label.key != "" {
			kvs = append(kvs, label.key.String(label.value))
		}
	}
	o, _ := m.options.LoadOrStore(l, metric.WithAttributeSet(attribute.NewSet(kvs...)))
	return o.(metric.MeasurementOption) //nolint:errcheck // Nothing else is stored.
}

func (m *metrics) add(ctx context.Context, c metric.Int64Counter, n int64, l labels) {
	if !m.off {
		c.Add(ctx, n, m.with(l))
	}
}

func (m *metrics) observe(ctx context.Context, h metric.Float64Histogram, d time.Duration, l labels) {
	if !m.off {
		h.Record(ctx, d.Seconds(), m.with(l))
	}
}

// implementationOf returns the label of an implementation type; a stored definition may have
// any value.
func (m *metrics) implementationOf(i tool.Implementation) string {
	switch {
	case i == "":
		return none
	case slices.Contains(m.types, i):
		return string(i)
	default:
		return "other"
	}
}

func kindOf(k tool.Kind) string {
	if k == "" {
		return none
	}
	return string(k)
}
