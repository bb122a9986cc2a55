// Package sandbox runs untrusted programs in child processes that can be killed.
//
// Engines for such programs cannot be limited reliably inside a process: some ignore the end
// of a context while they compile, some bypass their memory limit, and a small program may
// exhaust the stack and crash the process. So none runs here. A [Pool] starts child
// processes with the engines, with limits of the operating system on memory and output and
// without an environment, and kills those that exceed their time. A child drops
// descriptors, privileges and nearly all system calls before it serves.
//
// A child serves one tenant for its whole life, and one call at a time, in a new machine for
// each. It caches compiled programs between calls.
//
// Tenants share children and processor time: see [Config.Children] and [Pool.Run].
//
// This package has the protocol and the processes; package platform/sandbox is the other
// side, with the engines.
package sandbox
