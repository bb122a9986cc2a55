// Package agentcall reads the tools that run an agent: those of the types
// agent_call and task, and prompts that are for an agent or a skill of one. It
// determines which agent is meant, the message to the agent, and the result
// that its end is to the caller. It is pure, and independent of how runs are
// executed as workflows.
package agentcall
