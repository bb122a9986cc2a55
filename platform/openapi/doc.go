// Package openapi maps a document of OpenAPI 3.0 or 3.1 to definitions of http
// tools, one for each operation, and tells of what it could not map.
//
// The package is pure: it reads the document it is given and nothing else. It
// has no loader, so that a reference to another file or address is refused
// rather than followed. What a document says is untrusted: its size, depth,
// aliases and work are bounded, texts are cut and freed of control characters,
// and examples and defaults of secrets are left out.
//
// [Map] makes the tools. [Result.Reconcile] puts them beside the tools that an
// earlier import made, so that what people decided since then stays. Writing
// is the registry's.
package openapi
