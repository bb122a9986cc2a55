package observe

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// defaultEndpoint is the default address of a collector.
const defaultEndpoint = "http://localhost:4318"

// tracing sends the process's spans to a collector.
type tracing struct {
	provider *sdktrace.TracerProvider
	gate     *egress.Gate
}

// startTracing configures the export of spans from the environment. It returns
// nil if there is none.
func startTracing(ctx context.Context, cfg Config) (*tracing, error) {
	endpoint, err := collector(cfg.Getenv)
	if err != nil || endpoint == nil {
		return nil, err
	}
	gate, err := collectorGate(endpoint, cfg.Getenv)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(endpoint.String()),
		otlptracehttp.WithHTTPClient(gate.Client(egress.Access{Class: tool.EgressWrite})))
	if err != nil {
		gate.Close()
		return nil, fmt.Errorf("creating the exporter of traces: %w", err)
	}
	res, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", cfg.Service),
			attribute.String("service.version", cfg.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) && !errors.Is(err, resource.ErrSchemaURLConflict) {
		gate.Close()
		return nil, fmt.Errorf("describing the process for traces: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		cfg.Logger.WarnContext(context.WithoutCancel(ctx), "telemetry failed", slog.Any("error", err))
	}))
	return &tracing{
		gate: gate, provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res)),
	}, nil
}

func (t *tracing) stop(ctx context.Context) error {
	err := t.provider.Shutdown(ctx)
	t.gate.Close()
	return err
}

// collector returns the URL that spans are sent to, or nil for none.
func collector(getenv func(string) string) (*url.URL, error) {
	own, all := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	exporter := getenv("OTEL_TRACES_EXPORTER")
	switch {
	case strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || exporter == "none":
		return nil, nil // No URL is none.
	case exporter == "" && own == "" && all == "":
		return nil, nil // No URL is none.
	case exporter != "" && exporter != "otlp":
		return nil, invalid("OTEL_TRACES_EXPORTER is %q: want otlp or none", exporter)
	}
	protocol := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL"),
		"http/protobuf")
	if protocol != "http/protobuf" {
		return nil, invalid("the OTLP protocol is %q: only http/protobuf is supported", protocol)
	}
	text, variable := own, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	if text == "" {
		text, variable = strings.TrimSuffix(cmp.Or(all, defaultEndpoint), "/")+"/v1/traces", "OTEL_EXPORTER_OTLP_ENDPOINT"
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, invalid("%s is not a URL such as %s", variable, defaultEndpoint) // The text may hold a secret.
	}
	return u, nil
}

// collectorGate returns a gate that reaches the collector, and no other private
// address: the operator chose the collector, which may be at any address.
func collectorGate(endpoint *url.URL, getenv func(string) string) (*egress.Gate, error) {
	port := cmp.Or(endpoint.Port(), map[string]string{"http": "80", "https": "443"}[endpoint.Scheme])
	policy := egress.Policy{AllowHosts: []string{net.JoinHostPort(endpoint.Hostname(), port)}}
	if err := policy.Check(); err != nil {
		return nil, invalid("the collector's host can't be used: %s", tool.AsError(err).Msg)
	}
	cfg := egress.Config{Policy: func(tool.TenantID) egress.Policy { return policy }, MaxRedirects: -1}
	if file := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE"),
		getenv("OTEL_EXPORTER_OTLP_CERTIFICATE")); file != "" {
		pem, err := os.ReadFile(file) //nolint:gosec // The operator names it.
		if err != nil {
			return nil, invalid("OTEL_EXPORTER_OTLP_CERTIFICATE can't be read: %v", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, invalid("OTEL_EXPORTER_OTLP_CERTIFICATE has no certificate in PEM")
		}
	}
	gate, err := egress.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("creating the egress gate for the collector: %w", err)
	}
	return gate, nil
}

func invalid(format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "observe", Msg: fmt.Sprintf(format, args...)}
}
