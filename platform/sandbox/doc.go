// Package sandbox is the child process that runs untrusted programs: the engines
// behind "toolcrib sandbox", and the restrictions of the process.
//
// A child reads jobs from its standard input and answers on its standard
// output, by the protocol of package internal/sandbox. It has no environment,
// no files but those two, and no network. It does not rely on a program to end:
// the parent process kills the child.
package sandbox
