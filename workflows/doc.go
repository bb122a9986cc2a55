// Package workflows orchestrates: it decides, deterministically, what runs
// next. Everything that reads or changes the world is an activity.
//
// A host workflow calls [Execute] for a tool node of its own. [ToolCall] is
// that as a workflow, and [AgentRun] is the agent loop. Histories carry
// references and small descriptors, never transcripts.
package workflows
