// Package v1 defines what the HTTP API sends over the wire: the bodies of its
// requests and answers, and its problems.
//
// Server and client share it, so it imports neither: only the vocabulary, the
// package that recognises secrets by their names, and the standard library.
// Bodies only grow; a field is never renamed, retyped or reused.
package v1
