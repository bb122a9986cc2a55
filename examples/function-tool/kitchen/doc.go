// Package kitchen is what a team has that brings tools of its own: Go functions
// that become tools, and a workflow that calls them.
package kitchen
