// Package dispatch is what a team has that runs Temporal already: a workflow of
// its own with activities of its own. One of its steps is a tool, which
// Toolcrib resolves, decides, runs, repeats and records.
package dispatch
