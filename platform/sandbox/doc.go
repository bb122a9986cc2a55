// Package sandbox is the child process that runs programs nobody trusts: the
// engines behind "toolcrib sandbox", and the fence around them.
//
// A child reads jobs from its standard input and answers on its standard
// output, as package internal/sandbox has the protocol. It has no environment,
// no files but those two, and no use for a network. It never trusts a program
// to end: whoever started it kills it.
package sandbox
