// Package mcpcall runs tools of the implementation type mcp: it asks a server
// of the Model Context Protocol for one of its tools, over streamable HTTP,
// over HTTP with server-sent events for old servers, or over the pipes of a
// command that an operator named. It also discovers what tools a server has.
//
// Both generations of the protocol are spoken: with sessions, up to
// 2025-11-25, and without, from 2026-07-28.
//
// Nothing of a connection outlives a call but what [Sessions] keeps: the next
// call of a run goes on with the session, on whatever worker, without asking
// for another. When the server has forgotten it, one more is begun, once. Only
// the processes of commands stay with their worker.
//
// Servers are strangers. What they send is bounded in bytes, depth, number and
// time, read as data, and never followed: requests that they make are refused,
// redirects away from their origin are too, and what they say of their tools
// decides nothing. A tool whose definition is pinned stops when the server
// changes it, and only that tool does.
//
// The call's effect id goes with every tools/call, as Idempotency-Key and in
// _meta. A call is written once at the most: what was sent and not answered is
// never sent again by this package.
package mcpcall
