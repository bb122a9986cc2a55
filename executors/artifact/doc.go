// Package artifact runs tools that are programs of a tenant's own: jq filters,
// JavaScript modules and WebAssembly commands, stored in the tool's
// configuration.
//
// The programs are untrusted, so they run in the sandbox: a child process that
// holds the engines, is killed when its time limit is reached, and has neither
// files nor network. A program receives the call's arguments unchanged; its
// output is the result of the call. The package contains no engine.
package artifact
