// Package telemetrytest helps to test what makes spans, without the SDK.
package telemetrytest
