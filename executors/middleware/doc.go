// Package middleware has the middleware that the platform puts around executors:
// deadline, size, output schema, redaction, progress and recovery.
//
// A middleware sees every call, and may answer it, refuse it, or change the
// answer. It must not change the call: make a copy. [Standard] is the order in
// which the platform stacks them.
package middleware
