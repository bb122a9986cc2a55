// Package definition reads the definitions of tools, agents, MCP servers,
// artifacts and pipelines as users write them, and checks what can be checked
// without a store.
//
// It is pure: its answers depend on its arguments alone.
package definition
