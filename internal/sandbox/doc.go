// Package sandbox runs untrusted programs in child processes that can be killed.
//
// Engines for such programs can't be held to a limit inside a process: some
// ignore the end of a context while they compile, some get around their own limit
// of memory, and a small program may exhaust a stack and so end the process. So
// none runs here. A [Pool] keeps child processes that hold the engines, with an
// operating system's limit on their memory and on what they may write, without an
// environment, and kills the one whose time is over. A child gives up descriptors,
// privileges and nearly all system calls before it serves.
//
// A child serves one tenant for as long as it lives, and one call at a time, in
// a fresh machine for each. What it keeps between calls is compiled programs.
//
// Tenants share children and processor time: see [Config.Children] and [Pool.Run].
//
// The package knows the protocol and the processes; package platform/sandbox is
// the other side, with the engines.
package sandbox
