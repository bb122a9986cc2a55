// Package remote holds what is known of MCP servers and their tools, for those
// who attach them and those who call them. It does no I/O.
//
// A server's own words (names, descriptions, schemas, annotations) are data of
// strangers: they are bounded, cleaned of control characters, and decide nothing.
package remote
