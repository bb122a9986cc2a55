package tool

import (
	"encoding/json"
	"slices"
)

// Implementation is how a tool is implemented, and so which [Executor] runs it.
type Implementation string

// Implementation types. They are stored: never rename one.
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
	Client       Implementation = "client"        // Answered by a browser or an external executor.
	Provider     Implementation = "provider"      // Run by the model's provider, never by the platform.
)

// Implementations lists every implementation type.
func Implementations() []Implementation {
	return []Implementation{
		Internal, HTTP, Function, RAGRetrieval, AgentCall, Artifact, MCP,
		Custom, Prompt, Task, Composition, Client, Provider,
	}
}

// Valid reports whether i is one of the implementation types.
func (i Implementation) Valid() bool { return slices.Contains(Implementations(), i) }

// Bucket is the coarse class of a tool that people filter by. It is derived by
// [Tool.Bucket] and never stored.
type Bucket string

// Buckets.
const (
	BuiltInBucket  Bucket = "built_in"
	MCPBucket      Bucket = "mcp"
	ArtifactBucket Bucket = "artifact"
	CustomBucket   Bucket = "custom"
)

// Bucket derives t's bucket (reference numbers S3-1…4): built_in for system
// tools and those with a built-in key, then mcp, then artifact, else custom.
func (t *Tool) Bucket() Bucket {
	switch {
	case t.System || t.BuiltinKey != "":
		return BuiltInBucket
	case t.ImplementationType() == MCP || configuredType(t.Config) == MCP:
		return MCPBucket
	case t.ArtifactID != "" || t.ImplementationType() == Artifact:
		return ArtifactBucket
	default:
		return CustomBucket
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
