// Package builtins has the platform's own tools: one file each, with schema and code. A
// [Catalog] runs them by key for package executors/internalcall, and lists them for the
// registry to offer as global tools.
//
// Built-ins know neither Temporal nor SQL, and send requests through package egress only.
package builtins
