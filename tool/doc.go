// Package tool defines the core types of Toolcrib: a tool, its versions, a
// call, a result and a failure.
//
// Every other package uses it, so it imports the standard library only and does
// not depend on Temporal, PostgreSQL or HTTP. The central type is [Executor],
// which is to a [Call] what net/http's Handler is to a request.
package tool
