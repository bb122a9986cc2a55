// Package agentcall parses tools that run an agent: those of the types agent_call and task,
// and prompts of mode agent or skill. It determines the agent, the message to it, and the
// result for the caller. It is pure, and independent of how runs are executed as workflows.
package agentcall
