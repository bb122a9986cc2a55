// Package api serves the platform over HTTP: a JSON API under /v1, described
// by OpenAPI 3.1 at /openapi.json.
//
// Every endpoint but the health checks and the list of problems wants an API
// key, as
//
//	Authorization: Bearer tck_…
//
// The tenant is the key's; nothing in a request names one. What belongs to
// another tenant is answered with the same 404 as what does not exist.
//
// Errors are problems (RFC 9457), each of a class that /v1/problems lists and
// whose code is a kind of tool.Error; see v1.ProblemClass. Each kind has one
// status:
//
//	invalid       422   a definition, a body or a parameter is wrong
//	not_found     404   no such thing, or none the caller may know of
//	denied        403   the key lacks a permission, or policy says no
//	conflict      409   the state of the thing does not allow it
//	cancelled     409   somebody stopped it
//	rate_limited  429   come back later; Retry-After says when
//	unavailable   503   something behind the API is not answering
//	timeout       504   it took too long
//	unknown       502   the effect of a call may have happened
//	internal      500   a defect; the trace id finds it in the log
//
// What HTTP itself refuses keeps its own status under the nearest code: 400
// for a body that is no JSON, 401 for a key that opens nothing, 405, 406, 413.
//
// A POST goes through authorize, receive and once before its handler: nobody
// without permission learns anything, and what cannot be read takes no
// idempotency key. Tools and agents have ETags, which make a change or a read
// conditional.
//
// Lists are pages with a cursor. Changes of a tool or an agent go to package
// registry, runs to Temporal; this package decides nothing but who may ask.
package api
