// Package mcpserver attaches MCP servers, imports their tools, and stops an
// imported tool whose definition its server changes, until the new definition
// is approved.
//
// It knows neither SQL nor Temporal.
package mcpserver
