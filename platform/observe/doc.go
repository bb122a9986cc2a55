// Package observe gives the platform's processes traces and metrics: it
// configures OpenTelemetry's SDK by the standard OTEL_… variables, collects
// metrics for Prometheus, and serves them.
//
// Traces are exported over OTLP/HTTP, and only if OTEL_EXPORTER_OTLP_ENDPOINT,
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_TRACES_EXPORTER=otlp is set;
// otherwise no span is made. Metrics are always counted, and served without
// authentication at their address.
package observe
