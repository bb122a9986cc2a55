// Package jsonpointer reads JSON Pointers, RFC 6901, and finds the values they
// point to without touching their bytes: numbers keep their spelling, objects
// the order of their members.
package jsonpointer
