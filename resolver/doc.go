// Package resolver turns a reference into the one tool version that may run,
// or a typed refusal, and explains itself.
//
// It is the only read path from a reference to a version: listing what a
// principal may use and calling one of it go through the same function. It
// knows neither SQL nor Temporal.
package resolver
