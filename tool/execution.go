package tool

import (
	"encoding/json"
	"time"
)

// ExecutionType says what runs the calls of a tool. It follows from the
// [Implementation] and is never stored.
type ExecutionType string

// Execution types.
const (
	ServerExecution   ExecutionType = "server"   // An executor of the platform or its host.
	ClientExecution   ExecutionType = "client"   // A browser or another program outside.
	ProviderExecution ExecutionType = "provider" // The provider of the model, by itself.
	MCPExecution      ExecutionType = "mcp"      // A server of the Model Context Protocol, by our executor.
)

// ExecutionType returns what runs calls of the type.
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

// ClientTool is a client-executed tool as the client defines it: no code, only
// what the model is shown and what the client displays.
type ClientTool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	Intent      Intent
	// RequiresResponse waits for the client's answer, for Timeout at most;
	// without it, DefaultResult is returned at once.
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
