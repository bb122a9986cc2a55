// Package space is the contract of spaces: where people and agents talk, and where the visible
// calls of agents are posted (docs/decisions/0020-spaces.md).
//
// A tool does not know of spaces. The run of an agent enters one, and what it says and calls
// from then on appears there. Package store implements the contract.
package space
