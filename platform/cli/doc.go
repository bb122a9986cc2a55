// Package cli is the root of the command line: the invocation that commands
// share, its connection to a server or database, contexts, completion, errors
// and exit codes. Commands read and write what an [Env] gives them, so that
// tests run them as a shell does.
//
// The commands themselves are in packages that import this one, and that
// [Run] is given: commands (by noun, over the API), operator (the platform's
// processes and database), devcmd and sandboxcmd. Below it are definition
// (files of definitions) and terminal (output for people). Imports go that way
// only: commands, cli, definition, terminal.
//
// Every command prints tables for people and, with --json, the bodies of the
// API. How a command ended is its exit code: see [ExitOK] and its neighbours.
package cli
