// Package cli is the command line of Toolcrib, as commands that read and write
// what an [Env] gives them, so that tests run them as a shell does.
//
// Commands that talk to a server go through package client; serve, worker and
// migrate run the platform's processes. Every command prints tables for people
// and, with --json, the bodies of the API. How a command ended is its exit
// code: see [ExitOK] and its neighbours.
package cli
