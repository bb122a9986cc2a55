// Package jsonpointer parses JSON Pointers, RFC 6901, and looks up values without changing their bytes:
// numbers keep their spelling, objects the order of their members.
package jsonpointer
