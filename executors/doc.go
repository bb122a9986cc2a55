// Package executors runs tool calls: a [Mux] sends each call to the executor
// of its implementation type, through middleware.
//
// It is to [tool.Executor] what net/http's ServeMux and middleware are to its
// Handler. Each implementation type has a sub-package, and none knows another;
// package executortest holds them all to one contract. The package knows
// neither Temporal nor SQL.
//
// # What a middleware may do
//
// A middleware sees every call, and may answer it, refuse it, or change the
// answer. It must not change the call: make a copy. [Standard] is the order
// in which the platform stacks them.
package executors
