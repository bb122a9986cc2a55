// Package executortest tests executors against the contract of
// [tool.Executor]. The test of an implementation is a [Harness] and one line:
//
//	executortest.Run(t, executortest.Harness{New: newSubject, Lacks: …})
//
// The executor runs as on the platform, within middleware.Standard.
package executortest
