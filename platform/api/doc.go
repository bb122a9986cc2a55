// Package api serves the platform over HTTP: a JSON API under /v1, described by
// OpenAPI 3.1 at /openapi.json.
//
// Every endpoint except the health checks and the list of problems requires an
// API key, as
//
//	Authorization: Bearer tck_…
//
// The tenant is that of the key; no request names one. A resource of another
// tenant is answered with the same 404 as one that does not exist.
//
// Errors are problems (RFC 9457), each of a class that /v1/problems lists and
// whose code is a kind of tool.Error; see v1.ProblemClass. Each kind has one
// status:
//
//	invalid       422   a definition, a body or a parameter is wrong
//	not_found     404   no such resource, or none that is visible to the caller
//	denied        403   the key lacks a permission, or policy denies the request
//	conflict      409   the state of the resource does not allow it
//	cancelled     409   the call or run was cancelled
//	rate_limited  429   too many requests; Retry-After says when to retry
//	unavailable   503   a dependency of the API does not respond
//	timeout       504   it took too long
//	unknown       502   the effect of a call may have happened
//	internal      500   a defect; search the log for the trace id
//
// Errors of HTTP itself keep their own status under the nearest code: 400 for a
// body that is not JSON, 401 for an invalid key, 405, 406, 413.
//
// A POST passes through authorize, receive and once before its handler: a
// caller without permission learns nothing, and a request that cannot be parsed
// takes no idempotency key. Tools and agents have ETags, for conditional
// updates and reads.
//
// Lists are paged with a cursor. Changes of tools and agents go to package
// registry, and runs to Temporal; this package decides only which caller may
// make which request.
package api
