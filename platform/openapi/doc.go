// Package openapi maps an OpenAPI 3.0 or 3.1 document to definitions of http
// tools, one for each operation, and reports what it could not map.
//
// The package does no I/O: it reads only the given document. It has no loader: a
// reference to another file or address is refused. The document is untrusted: its
// size, depth, aliases and work are bounded, texts are truncated and stripped of
// control characters, and examples and defaults of secrets are left out.
//
// [Map] creates the tools. [Result.Reconcile] matches them with the tools of an
// earlier import, so that later changes by people are kept. The registry stores
// them.
package openapi
