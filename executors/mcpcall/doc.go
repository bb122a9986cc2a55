// Package mcpcall runs tools of the implementation type mcp: it calls tools of
// Model Context Protocol servers over streamable HTTP, over HTTP with server-sent
// events for old servers, or over the pipes of a command that an operator
// configured. It also discovers the tools of a server.
//
// It implements both generations of the protocol: with sessions, up to
// 2025-11-25, and without, from 2026-07-28.
//
// Only the session in [Sessions] outlives a call: the next call of a run resumes
// it, on any worker. A session that the server has expired is replaced, once per
// call. Only the processes of commands stay with their worker.
//
// Servers are untrusted. Their messages are bounded in bytes, depth, number and
// time, and read as data: their requests are refused, redirects to other origins
// are not followed, and their annotations grant nothing. A tool whose definition is
// pinned is refused once the server changes it; its other tools are not affected.
//
// The call's effect id is sent with every tools/call, as Idempotency-Key and in
// _meta. A call is sent at most once: this package never retries a request that
// was sent and not answered.
package mcpcall
