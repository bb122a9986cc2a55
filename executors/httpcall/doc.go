// Package httpcall runs tools of the implementation type http: one HTTP
// request per attempt, or one for each page of an answer. The tool's author
// describes it by a [Config]; the call's arguments fill it in, and package egress
// sends it.
//
// Authors decide where a request goes: scheme, host and port are literals.
// Arguments fill path and query (RFC 6570), headers, query and body (JSON
// Pointers, RFC 6901), and can change neither the rest of the request nor its
// host. Credentials are opened by reference, at the call, and are never part of a
// configuration. Access tokens of OAuth 2.0 clients are requested and cached
// here.
//
// The status of the answer decides the outcome of a call, unless the configuration
// maps answers to errors. The call's effect id is sent as Idempotency-Key.
package httpcall
