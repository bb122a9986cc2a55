// Package api serves the platform over HTTP: a JSON API under /v1, described
// by OpenAPI 3.1 at /openapi.json.
//
// Every endpoint but the health checks wants an API key, as
//
//	Authorization: Bearer tck_…
//
// The tenant is the key's; nothing in a request names one. What belongs to
// another tenant is answered with the same 404 as what does not exist.
//
// Errors are problems (RFC 9457), whose code is a [tool.Kind]; see
// [v1.Problem]. Lists are pages with a cursor. Changes of a tool or an agent go
// to package registry, runs to Temporal; this package decides nothing but who
// may ask.
package api
