// Package telemetrytest has a tracer provider for tests, without the SDK.
package telemetrytest
