// Package telemetry reports calls to OpenTelemetry: spans, metrics, and a log line for each
// attempt. It only observes: it wraps executors, ledgers, models and transports, and does not
// change calls.
//
// Spans and metrics name tenants, runs, tools and effects, and never contain an argument, a
// result, or the text of an error that could quote one. Labels of metrics have low
// cardinality: no tenant, no tool. Traces are continued by traceparent alone; baggage and
// tracestate are ignored.
//
// The package uses OpenTelemetry's API and not its SDK, has no globals, and costs almost
// nothing where it is not configured: a context without a recording span gets no spans, and
// without a meter provider nothing is counted. It does not depend on Temporal; package
// temporaltrace propagates traces through it.
package telemetry
