// Package mcpbridge lets a local client of the Model Context Protocol, which speaks over its child's standard
// input and output, use the MCP endpoint of a Toolcrib server.
//
// It passes messages on as they are, and outlives restarts of the server: it opens a new session where one is
// gone, and sends a request again whose answer was lost. Calls of tools are named for that, so that the server
// makes each once. Clients are served revisions up to 2025-11-25.
package mcpbridge
