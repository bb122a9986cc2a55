// Package sandbox is the child process that runs untrusted programs: the
// engines behind "toolcrib sandbox", and the fence around them.
//
// A child reads jobs from its standard input and answers on its standard
// output, by the protocol of package internal/sandbox. It has no environment,
// no files but those two, and no use for a network. It never relies on a
// program to end: the parent process kills the child.
package sandbox
