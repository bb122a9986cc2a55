package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	temporalotel "go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"

	"github.com/toolcrib/toolcrib/internal/temporaltrace"
)

// Config configures an [Observer].
type Config struct {
	// Service is the name of the process in traces, unless OTEL_SERVICE_NAME is
	// set.
	Service string
	// Version of the platform. Defaults to "dev".
	Version string
	// Getenv reads the variables that configure the export of traces; the SDK
	// reads those about sampling, batches and resources from the process's own
	// environment. Required.
	Getenv func(name string) string
	// Logger logs failed exports. Defaults to discarding.
	Logger *slog.Logger
}

// Observer records the traces and metrics of a process. It is safe for
// concurrent use.
type Observer struct {
	registry *prometheus.Registry
	meters   *sdkmetric.MeterProvider
	tracing  *tracing // Nil when traces are not exported.
}

// New returns an observer. It fails with tool.Invalid if the environment asks
// for something that is not supported. The caller stops it.
func New(ctx context.Context, cfg Config) (*Observer, error) {
	if cfg.Version == "" {
		cfg.Version = "dev"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	o := &Observer{registry: prometheus.NewRegistry()}
	exporter, err := otelprometheus.New(
		otelprometheus.WithRegisterer(o.registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("creating the Prometheus exporter: %w", err)
	}
	o.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithView(seconds))
	o.Collect(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(cfg.Version))
	if o.tracing, err = startTracing(ctx, cfg); err != nil {
		return nil, errors.Join(err, o.Stop(ctx))
	}
	return o, nil
}

// latencyBounds are the histogram buckets of Temporal's timers, in seconds: from
// the latency of a request to the time that tasks wait for a worker.
var latencyBounds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

// seconds sets buckets in seconds for the timers of Temporal's SDK; other
// histograms set their own.
func seconds(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
	if i.Scope.Name != temporalScope || i.Kind != sdkmetric.InstrumentKindHistogram {
		return sdkmetric.Stream{}, false
	}
	return sdkmetric.Stream{
		Name: i.Name, Description: i.Description, Unit: i.Unit,
		Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: latencyBounds},
	}, true
}

const temporalScope = "temporal-sdk-go"

// buildInfo is a metric that is always 1, with the version as labels.
func buildInfo(version string) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "toolcrib_build_info", Help: "Version of the process: always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()},
	})
	g.Set(1)
	return g
}

// Collect registers collectors. It panics on a duplicate, which is a programming
// error.
func (o *Observer) Collect(shown ...prometheus.Collector) { o.registry.MustRegister(shown...) }

// MeterProvider returns the provider of meters whose metrics are shown.
func (o *Observer) MeterProvider() metric.MeterProvider { return o.meters }

// TracerProvider returns the provider of tracers, or nil when traces are not
// exported.
func (o *Observer) TracerProvider() trace.TracerProvider {
	if o.tracing == nil {
		return nil
	}
	return o.tracing.provider
}

// Client adds metrics and traces to the options of a Temporal client. For a
// client with the plugin, which adds traces itself, use Metrics.
func (o *Observer) Client(opts client.Options) client.Options {
	opts = o.Metrics(opts)
	if o.tracing != nil {
		opts.Interceptors = append(slices.Clone(opts.Interceptors),
			interceptor.ClientInterceptor(temporaltrace.New(o.tracing.provider)))
	}
	return opts
}

// Metrics adds metrics to the options of a Temporal client.
func (o *Observer) Metrics(opts client.Options) client.Options {
	opts.MetricsHandler = temporalotel.NewMetricsHandler(temporalotel.MetricsHandlerOptions{
		Meter: o.meters.Meter(temporalScope), UseMonotonicCounters: true, OnError: func(error) {},
	})
	return opts
}

// Handler serves the metrics in Prometheus' format.
func (o *Observer) Handler() http.Handler {
	return promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Stop exports the buffered spans, until ctx ends.
func (o *Observer) Stop(ctx context.Context) error {
	var err error
	if o.tracing != nil {
		err = o.tracing.stop(ctx)
	}
	return errors.Join(err, o.meters.Shutdown(ctx))
}
