// Package executors runs tool calls: a [Mux] sends each call to the executor
// of its implementation type, through middleware.
//
// It is to [tool.Executor] what net/http's ServeMux is to its Handler. Each
// implementation type has a sub-package, which describes it by a [Type] and does
// not import the others; package executortest runs one conformance suite on all
// of them. The package knows neither Temporal nor SQL, and does no I/O.
package executors
