// Package ports reports which process listens on a port of this machine, so
// that a user who cannot have the port knows which process to stop.
package ports
