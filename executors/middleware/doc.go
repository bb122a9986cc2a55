// Package middleware has the platform's middleware for executors: deadline, size,
// output schema, redaction, progress and recovery.
//
// Middleware sees every call. It may return a result of its own, refuse the call, or
// change the result. It must not change the call: make a copy. [Standard] is the
// platform's order of middleware.
package middleware
