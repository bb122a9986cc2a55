// Package remote holds the types of MCP servers and their tools, shared by the
// packages that attach them and those that call them. It does no I/O.
//
// A server's own text (names, descriptions, schemas, annotations) is untrusted
// data: it is bounded, cleaned of control characters, and decides nothing.
package remote
