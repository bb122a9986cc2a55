// Package resolver resolves a reference to the one tool version that may run,
// or a typed refusal, and explains its decision.
//
// It is the only read path from a reference to a version: listing the tools
// that a principal may use and calling one of them go through the same
// function. It depends on neither SQL nor Temporal.
package resolver
