// Package ports tells which process listens on a port of this machine, so that
// whoever cannot have the port knows whom to stop.
package ports
