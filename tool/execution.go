package tool

import (
	"encoding/json"
	"time"
)

// ExecutionType is who runs the calls of a tool. It follows from the
// [Implementation] and is never stored.
type ExecutionType string

// Execution types.
const (
	ServerExecution   ExecutionType = "server"   // An executor of the platform or its host.
	ClientExecution   ExecutionType = "client"   // A browser or another program outside.
	ProviderExecution ExecutionType = "provider" // The provider of the model, by itself.
	MCPExecution      ExecutionType = "mcp"      // A server of the Model Context Protocol, by our executor.
)

// ExecutionType returns who runs calls of the type.
func (i Implementation) ExecutionType() ExecutionType {
	switch i {
	case Client:
		return ClientExecution
	case Provider:
		return ProviderExecution
	case MCP:
		return MCPExecution
	case Internal, HTTP, Function, RAGRetrieval, AgentCall, Artifact, Custom, Prompt, Task, Composition:
		return ServerExecution
	default:
		return ServerExecution
	}
}

// HasExecutor reports whether calls need an [Executor]: those that a client or
// a provider runs have none.
func (t ExecutionType) HasExecutor() bool { return t == ServerExecution || t == MCPExecution }

// ClientTool is a tool as the client that runs it defines it: no code, only
// what a model is told and what the client shows.
type ClientTool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	Intent      Intent
	// RequiresResponse waits for the client's answer, Timeout at most; without
	// it, DefaultResult is the answer at once.
	RequiresResponse bool
	Timeout          time.Duration // [DefaultTimeout] when zero; rounded up to seconds.
	DefaultResult    json.RawMessage
}

// Definition returns the whole definition of the tool.
func (c ClientTool) Definition() Definition {
	return Definition{
		Name: c.Name, Description: c.Description, InputSchema: c.InputSchema, Implementation: Client,
		Execution:   Execution{TimeoutSeconds: int((c.Timeout + time.Second - 1) / time.Second)},
		Interaction: Interaction{Intent: c.Intent, RequiresResponse: c.RequiresResponse, DefaultResult: c.DefaultResult},
	}
}
