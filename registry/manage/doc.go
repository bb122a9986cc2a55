// Package manage is what agents may do with a tenant's tools: the use cases behind the built-in
// manageTools. It reads the arguments of a call, decides what the caller may change, shows what
// a change would do before it is approved, and makes it through package registry, which the
// API and the command line use too.
//
// It knows no executor, no store and no Temporal.
package manage
