// Package custom runs tools of implementation type custom: each is run by an
// executor that the program of the worker registered under a name, and that the
// tool's configuration names. It is how a host brings a way to run tools that
// the platform knows nothing of.
//
//	worker.Config{Custom: map[string]tool.Executor{"sqlQuery": queries}}
//
// What a tool configures beside the name is its executor's to read. An executor
// may judge it before it is published, and say what arguments it takes: see
// [ConfigChecker] and [InputDeclarer].
package custom
