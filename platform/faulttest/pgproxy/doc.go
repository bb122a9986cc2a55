// Package pgproxy is a TCP proxy in front of PostgreSQL that injects network
// faults for tests: connections that are reset, refused or silent, and
// statements whose request or answer is lost.
//
// It reads the frames of the frontend/backend protocol, version 3 (PostgreSQL
// documentation, "Message Formats"), and changes none of them. Connections must
// be unencrypted (sslmode=disable): it cannot see statements otherwise.
package pgproxy
