// Package telemetry tells of calls in OpenTelemetry: spans, metrics, and a line
// in the log for each attempt. What it tells of is decided elsewhere: it wraps
// executors, ledgers, models and transports, and changes nothing of what goes
// through them.
//
// Spans and metrics name tenants, runs, tools and effects, and never hold an
// argument, a result, or the text of an error that could quote one. Metrics
// have labels of which there are few: no tenant, no tool. Traces are continued
// by traceparent alone; baggage and tracestate are neither read nor passed on.
//
// The package uses OpenTelemetry's API and not its SDK, has no globals, and
// costs next to nothing where nobody listens: a context without a recording
// span gets no spans, and without a meter provider nothing is counted. It knows
// nothing of Temporal; package temporaltrace carries traces through it.
package telemetry
