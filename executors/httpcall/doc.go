// Package httpcall runs tools of the implementation type http: one HTTP
// request per attempt, or one for each page of an answer, written by the tool's
// author as a [Config], filled in from the call's arguments, and sent through
// package egress.
//
// Authors decide where a request goes: scheme, host and port are literals.
// Arguments fill path and query (RFC 6570), headers, query and body (JSON
// Pointers, RFC 6901), and can leave neither the place they were given nor the
// host. Credentials are opened by reference, at the call, and never stand in a
// configuration. Where they are a client's of OAuth 2.0, tokens are asked for
// and kept here.
//
// How a call ends follows from the answer's status, unless the configuration
// declares what an answer means. The call's effect id goes with its request as
// Idempotency-Key.
package httpcall
