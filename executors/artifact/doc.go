// Package artifact runs tools that are programs of a tenant's own: jq filters,
// JavaScript modules and WebAssembly commands, which stand in the tool's
// configuration.
//
// Nobody trusts them, so they run in the sandbox: a child process that holds
// the engines, is killed when its time is over, and has neither files nor
// network. What a program is given are the call's arguments, as they are; what
// it makes is its answer. The package knows no engine.
package artifact
