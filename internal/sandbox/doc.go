// Package sandbox runs programs that nobody trusts, in child processes that can
// be killed.
//
// Engines that run such programs inside a process can't be held to a limit:
// some of them ignore the end of a context while they compile, some get around
// their own limit of memory, and a small program may exhaust a stack and so end
// the process. So none runs here. A [Pool] keeps child processes that hold the
// engines, with an operating system's limit on their memory and on what they
// may write, without an environment, and kills the one whose time is over. The
// engines give programs neither files nor a network; no kernel fence beyond
// those limits stands behind them.
//
// A child serves one tenant for as long as it lives, and one call at a time, in
// a fresh machine for each. What it keeps between calls is compiled programs.
//
// The package knows the protocol and the processes; package platform/sandbox is
// the other side, with the engines.
package sandbox
