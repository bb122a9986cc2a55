// Package mcpserver serves the tools of a tenant to clients of the Model Context Protocol, over
// Streamable HTTP.
//
// It offers what the resolver gives the principal of a request, by the rule that agents and the API
// go by, and makes calls through package runs: a call is durable, outlives the connection and this
// process, and is joined again by its id. One route serves two kinds of client: those of revisions
// up to 2025-11-25 open a session, which belongs to the key that opened it; those of 2026-07-28 send
// requests that stand alone.
//
// The package knows neither SQL nor how requests are authenticated: its caller does that, and hands
// over a [Caller].
package mcpserver
