// Package agentcall reads the tools that run an agent: those of the types
// agent_call and task, and prompts that are for an agent or a skill of one.
// It says which agent is meant, what the agent is told, and what its end means
// to whoever called. That a run is a workflow is no matter of this package: it
// is pure.
package agentcall
