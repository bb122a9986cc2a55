// Package builtins is the platform's own tools: one file each, schema and code
// together. A [Catalog] runs them by key for package executors/internalcall,
// and lists them for the registry to offer as global tools.
//
// Built-ins know neither Temporal nor SQL, and call out through package egress
// only.
package builtins
