// Package executortest holds every executor to the contract of
// [tool.Executor]. The test of an implementation is a [Harness] and one line:
//
//	executortest.Run(t, executortest.Harness{New: newSubject, Lacks: …})
//
// The executor is run as the platform runs it, within middleware.Standard.
package executortest
