// Package observe is where the platform's processes say how they do: it
// configures OpenTelemetry's SDK as the standard OTEL_… variables ask for it,
// collects metrics for Prometheus, and serves them.
//
// Traces are exported over OTLP/HTTP, and only if OTEL_EXPORTER_OTLP_ENDPOINT,
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_TRACES_EXPORTER=otlp is set;
// otherwise no span is made. Metrics are always counted, and shown to whoever
// may reach the address they are served at.
package observe
