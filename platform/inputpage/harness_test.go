package inputpage_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/toolcrib/toolcrib/tool"
)

// Version implements [inputpage.Versions].
func (d *desk) Version(context.Context, tool.TenantID, string, string) (*tool.Version, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.config == nil {
		return nil, &tool.Error{Kind: tool.NotFound, Msg: "version not found"}
	}
	return &tool.Version{Snapshot: tool.Snapshot{Definition: tool.Definition{Config: d.config}}}, nil
}

func (d *desk) meters(t *testing.T) metric.MeterProvider {
	t.Helper()
	d.reader = sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(d.reader))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	return provider
}

// counted returns how many requests had each outcome.
func (s *site) counted() map[string]int64 {
	s.t.Helper()
	var got metricdata.ResourceMetrics
	require.NoError(s.t, s.reader.Collect(s.t.Context(), &got))
	out := map[string]int64{}
	for _, scope := range got.ScopeMetrics {
		for _, m := range scope.Metrics {
			require.Equal(s.t, "toolcrib.input.page.requests", m.Name)
			for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints { //nolint:errcheck // There is no other.
				outcome, _ := point.Attributes.Value(attribute.Key("outcome"))
				out[outcome.AsString()] = point.Value
			}
		}
	}
	return out
}
