// Package v1 is what goes over the wire of the HTTP API: the bodies of its
// requests and answers, and its problems.
//
// Server and client share it, so it knows neither: it imports the vocabulary,
// what tells secrets by their names, and the standard library. Bodies only grow; a field is never renamed,
// retyped or reused.
package v1
