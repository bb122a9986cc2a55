// Package openapi maps an OpenAPI 3.0 or 3.1 document to definitions of http
// tools, one for each operation, and reports what it could not map.
//
// The package is pure: it reads the document it is given and nothing else. It
// has no loader, so that a reference to another file or address is refused
// rather than followed. The document is untrusted: its size, depth, aliases and
// work are bounded, texts are truncated and stripped of control characters, and
// examples and defaults of secrets are left out.
//
// [Map] makes the tools. [Result.Reconcile] matches them with the tools of an
// earlier import, so that later changes by people are kept. Writing the tools
// is the registry's.
package openapi
