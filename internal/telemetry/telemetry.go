package telemetry

import (
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/toolcrib/toolcrib/tool"
)

// Scope is the instrumentation scope of every span and metric.
const Scope = "github.com/toolcrib/toolcrib"

// Telemetry wraps the parts of a call's path. It is safe for concurrent use.
type Telemetry struct {
	log     *slog.Logger
	metrics *metrics
}

// New returns a telemetry that counts with the given provider's meters, or not at all if it is
// nil, and logs each attempt to logger. The counters of types start at zero.
func New(provider metric.MeterProvider, logger *slog.Logger, types []tool.Implementation) (*Telemetry, error) {
	counts := provider != nil
	if !counts {
		provider = noop.NewMeterProvider()
	}
	m, err := newMetrics(provider.Meter(Scope))
	if err != nil {
		return nil, fmt.Errorf("making metrics: %w", err)
	}
	m.types = types
	if m.off = !counts; !m.off {
		m.begin(types)
	}
	return &Telemetry{log: logger, metrics: m}, nil
}
