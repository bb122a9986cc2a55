package telemetry_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/telemetry"
)

// tally is a provider that adds up what its instruments are told.
type tally struct {
	noop.MeterProvider

	mu   sync.Mutex
	sums map[string]float64
}

func (t *tally) add(name string, n float64, set string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sums[name+set] += n
}

func (t *tally) Meter(string, ...metric.MeterOption) metric.Meter { return meter{of: t} }

type meter struct {
	noop.Meter

	of *tally
}

func (m meter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return counter{name: name, of: m.of}, nil
}

func (m meter) Int64UpDownCounter(
	name string, _ ...metric.Int64UpDownCounterOption,
) (metric.Int64UpDownCounter, error) {
	return level{name: name, of: m.of}, nil
}

func (m meter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return histogram{name: name, of: m.of}, nil
}

type counter struct {
	noop.Int64Counter

	name string
	of   *tally
}

func (c counter) Add(_ context.Context, n int64, options ...metric.AddOption) {
	set := metric.NewAddConfig(options).Attributes()
	c.of.add(c.name, float64(n), fmt.Sprint(set.ToSlice()))
}

type level struct {
	noop.Int64UpDownCounter

	name string
	of   *tally
}

func (l level) Add(_ context.Context, n int64, _ ...metric.AddOption) {
	l.of.add(l.name, float64(n), "")
}

type histogram struct {
	noop.Float64Histogram

	name string
	of   *tally
}

func (h histogram) Record(_ context.Context, n float64, options ...metric.RecordOption) {
	set := metric.NewRecordConfig(options).Attributes()
	h.of.add(h.name, n, fmt.Sprint(set.ToSlice()))
}

// Children and runs of the sandbox are counted, by what ended them.
func TestSandboxIsCounted(t *testing.T) {
	t.Parallel()

	sums := &tally{sums: make(map[string]float64)}
	tel, err := telemetry.New(sums, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	clear(sums.sums) // What begins at zero.
	o := tel.Sandbox()
	o.Started()
	o.Started()
	o.Ended(string(sandbox.OverTime))
	o.Waited(2 * time.Second)
	o.Ran(sandbox.WASM, "time", 3*time.Second)
	require.Equal(t, map[string]float64{
		"toolcrib.sandbox.children":            1,
		"toolcrib.sandbox.starts[]":            2,
		"toolcrib.sandbox.ends[{cause time}]":  1,
		"toolcrib.sandbox.queue.wait[]":        2,
		"toolcrib.sandbox.run.duration" + wasm: 3,
	}, sums.sums)

	off, err := telemetry.New(nil, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	silent := off.Sandbox()
	require.NotPanics(t, func() {
		silent.Started()
		silent.Ended("idle")
		silent.Waited(1)
		silent.Ran(sandbox.JQ, "answered", 1)
	})
}

const wasm = "[{language wasm} {outcome time}]"
