package tool

import "encoding/json"

// Implementation is how a tool is implemented, and so which [Executor] runs it.
// Package executors describes each type; hosts may add types of their own.
type Implementation string

// The platform's own implementation types. They are stored: never rename one.
const (
	Internal     Implementation = "internal"      // A built-in by key, or an echo of the arguments.
	HTTP         Implementation = "http"          // One HTTP request.
	Function     Implementation = "function"      // A Go function the host registered.
	RAGRetrieval Implementation = "rag_retrieval" // A search over a retrieval pipeline.
	AgentCall    Implementation = "agent_call"    // A run of another agent.
	Artifact     Implementation = "artifact"      // Sandboxed code.
	MCP          Implementation = "mcp"           // A tool of an MCP server.
	Custom       Implementation = "custom"        // An executor the host registered by name.
	Prompt       Implementation = "prompt"        // A prompt given to a model, a skill or an agent.
	Task         Implementation = "task"          // A task that is created, and optionally awaited.
	Composition  Implementation = "composition"   // A sequence of other tools.
	Graph        Implementation = "graph"         // A graph of tools, agents, people and waits.
	Client       Implementation = "client"        // Answered by a browser or an external executor.
	Input        Implementation = "input"         // Answered by a person, on the page behind a link.
	Provider     Implementation = "provider"      // Run by the model's provider, never by the platform.
)

// Traits is what rules and the scheduler need to know of an implementation type.
type Traits struct {
	Implementation Implementation
	RunBy          RunBy // Who runs the calls.
	// Quick calls are requests that are answered soon: they run no untrusted code,
	// start no run, and wait for no person or client. They may take the fast lane.
	Quick bool
	// Guarded calls act through the egress guard alone, so a call of a lesser
	// class than write changes nothing outside.
	Guarded bool
}

// RunBy is who runs the calls of an implementation type.
type RunBy string

// Who runs calls.
const (
	RunByWorker   RunBy = ""         // An executor in a worker.
	RunByWorkflow RunBy = "workflow" // The workflow that makes the call: it makes runs or calls of its own.
	RunByClient   RunBy = "client"   // A browser or another program outside.
	RunByProvider RunBy = "provider" // The provider of the model.
)

// OnPlatform reports whether the platform runs the calls itself.
func (r RunBy) OnPlatform() bool { return r == RunByWorker || r == RunByWorkflow }

// Bucket is the coarse class of a tool that people filter by. It is derived by
// [Tool.Bucket] and never stored.
type Bucket string

// Buckets.
const (
	BucketBuiltIn  Bucket = "built_in"
	BucketMCP      Bucket = "mcp"
	BucketArtifact Bucket = "artifact"
	BucketCustom   Bucket = "custom"
)

// Bucket derives t's bucket (reference numbers S3-1…4): built_in for system
// tools and those with a built-in key, then mcp, then artifact, else custom.
func (t *Tool) Bucket() Bucket {
	switch {
	case t.System || t.BuiltinKey != "":
		return BucketBuiltIn
	case t.ImplementationType() == MCP || configuredType(t.Config) == MCP:
		return BucketMCP
	case t.ArtifactID != "" || t.ImplementationType() == Artifact:
		return BucketArtifact
	default:
		return BucketCustom
	}
}

// ImplementationType returns the definition's implementation type, falling
// back to the "type" its configuration names, and to the empty string when
// neither says (S3-24).
func (d *Definition) ImplementationType() Implementation {
	if d.Implementation != "" {
		return d.Implementation
	}
	return configuredType(d.Config)
}

func configuredType(config json.RawMessage) Implementation {
	var c struct {
		Type Implementation `json:"type"`
	}
	if len(config) == 0 || json.Unmarshal(config, &c) != nil {
		return ""
	}
	return c.Type
}
