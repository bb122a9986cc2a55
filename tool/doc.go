// Package tool is the vocabulary of Toolcrib: what a tool, a version of it, a
// call, a result and a failure are.
//
// Every other package speaks it, so it imports the standard library only and
// knows nothing of Temporal, PostgreSQL or HTTP. The central type is
// [Executor], which is to a [Call] what net/http's Handler is to a request.
package tool
