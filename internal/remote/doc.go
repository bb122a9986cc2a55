// Package remote has the types of MCP servers and their tools, for the packages that attach
// servers and those that call their tools. It does no I/O.
//
// A server's text (names, descriptions, schemas, annotations) is untrusted: it is bounded,
// stripped of control characters, and grants nothing.
package remote
