// Package custom runs tools of implementation type custom. Each is run by an
// executor that the worker's host registers under a name; the tool's
// configuration gives the name. It is how a host adds kinds of tools that the
// platform does not have.
//
//	worker.Config{Custom: map[string]tool.Executor{"sqlQuery": queries}}
//
// The rest of a tool's configuration is up to its executor, which may check it
// before publishing and declare its arguments: see [ConfigChecker] and
// [InputDeclarer].
package custom
