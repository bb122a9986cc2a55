// Package devcmd is the command "toolcrib dev". It is a package of its own
// because it links Temporal's server.
package devcmd
