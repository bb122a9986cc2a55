// Package devcmd is the command "toolcrib dev". It stands apart from the other
// commands because it links Temporal's server.
package devcmd
