package v1

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// ToolDefinition is the definition of a tool. The server accepts other
// spellings of its fields too; these are the preferred ones.
type ToolDefinition struct {
	Slug           string              `json:"slug,omitempty" pattern:"^[a-zA-Z][a-zA-Z0-9_-]{0,63}$" doc:"The name that models call it by; cannot be changed" example:"searchOrders"`
	Scope          string              `json:"scope,omitempty" enum:"tenant" doc:"The only scope that can be created"`
	Name           string              `json:"name,omitempty" doc:"The slug when absent" example:"Search orders"`
	Description    string              `json:"description,omitempty" doc:"When a model should use it" example:"Finds the orders of a customer. Use it before answering a question about an order."`
	Category       string              `json:"category,omitempty" example:"orders"`
	Icon           string              `json:"icon,omitempty" example:"search"`
	InputSchema    json.RawMessage     `json:"input_schema,omitempty" doc:"JSON Schema of the arguments, an object at the top" example:"{\"type\":\"object\",\"properties\":{\"customer\":{\"type\":\"string\"}},\"required\":[\"customer\"]}"`
	OutputSchema   json.RawMessage     `json:"output_schema,omitempty" doc:"JSON Schema of the structured result" example:"{\"type\":\"object\",\"properties\":{\"orders\":{\"type\":\"array\"}}}"`
	OutputCheck    tool.OutputCheck    `json:"output_check,omitempty" enum:"refuse,warn" doc:"How to treat an answer that does not match output_schema: refuse fails the call, warn passes it on with a warning; refuse when absent" example:"refuse"`
	InputFields    json.RawMessage     `json:"input_fields,omitempty" doc:"The arguments as fields, instead of input_schema"`
	OutputFields   json.RawMessage     `json:"output_fields,omitempty" doc:"The result as fields, instead of output_schema"`
	Implementation tool.Implementation `json:"implementation_type" example:"http"`
	Config         json.RawMessage     `json:"implementation_config,omitempty" doc:"Its schema depends on the implementation type; secrets are referenced by credentials_ref, never included" example:"{\"method\":\"GET\",\"url\":\"https://orders.example.com/v2/orders\"}"`
	Execution      *tool.Execution     `json:"execution_config,omitempty" doc:"Scheduling and retries of calls"`
	Interaction    *tool.Interaction   `json:"interaction,omitempty" doc:"How the tool is presented to people and clients"`

	EgressClass        tool.Egress           `json:"egress_class,omitempty" enum:"none,read_only,write" doc:"Effect of a call on external systems; write always requires approval" example:"read_only"`
	EgressRules        *tool.EgressRules     `json:"egress_rules,omitempty" doc:"Destinations that calls may reach: they only narrow the class"`
	RequiresApproval   bool                  `json:"requires_approval,omitempty" example:"false"`
	PermissionPolicy   tool.PermissionPolicy `json:"permission_policy,omitempty" enum:"auto,always_ask"`
	RequiredPermission string                `json:"required_permission,omitempty" doc:"The permission that a caller needs to see and call it" example:"orders.read"`

	Status          tool.Status `json:"status,omitempty" enum:"draft,deprecated,disabled" doc:"Only the publish endpoint sets published"`
	Active          *bool       `json:"is_active,omitempty" example:"true"`
	ArtifactID      string      `json:"artifact_id,omitempty" example:""`
	ArtifactVersion string      `json:"artifact_version,omitempty" example:""`
	Version         string      `json:"version,omitempty" doc:"Number of the draft; 1.0.0 for a new tool when absent" example:"1.2.0"`
	Revision        int64       `json:"revision,omitempty" doc:"Unless zero, the change fails if the tool has another revision, as with If-Match" example:"0"`
}

// SavedTool is a tool as it was saved, with warnings.
type SavedTool struct {
	Tool
	Warnings []string `json:"warnings,omitempty" example:"[\"no description: a model does not know when to use the tool\"]"`
}

// AgentDefinition is the definition of an agent.
type AgentDefinition struct {
	Slug         string          `json:"slug,omitempty" pattern:"^[a-zA-Z][a-zA-Z0-9_-]{0,63}$" doc:"Cannot be changed" example:"supportDesk"`
	Name         string          `json:"name,omitempty" doc:"The slug when absent" example:"Support desk"`
	Description  string          `json:"description,omitempty" example:"Answers questions about orders."`
	Instructions string          `json:"instructions,omitempty" doc:"The system prompt" example:"Answer questions about orders. Look before you answer."`
	Model        string          `json:"model,omitempty" doc:"provider/name" example:"scripted/support-desk"`
	ModelOptions json.RawMessage `json:"model_options,omitempty" example:"{\"temperature\":0.2}"`
	Tools        []string        `json:"tools,omitempty" doc:"References: a slug or id, optionally with @version" example:"[\"searchOrders@^1.2\"]"`
	ToolMode     agent.ToolMode  `json:"tool_mode,omitempty" enum:"sequential,parallel_safe"`
	Limits       *agent.Limits   `json:"limits,omitempty"`

	MaxConcurrency map[string]int `json:"max_concurrency,omitempty" doc:"How many pure calls of a concurrency group run at once in a run, by group: within what its tools allow, and instead of the default of 1" example:"{\"default\":8}"`

	OnUnavailableTool agent.UnavailablePolicy `json:"on_unavailable_tool,omitempty" enum:"omit,refuse" doc:"What to do when a tool cannot be used at the start of a run: omit it with a warning event (default), or refuse the run"`

	FallbackModels []agent.FallbackModel `json:"fallback_models,omitempty" doc:"Models that are asked in order where the model is unavailable: it limits the rate, fails or does not answer in time" example:"[{\"model\":\"anthropic/claude-haiku-4-5\"}]"`

	OutputSchema json.RawMessage `json:"output_schema,omitempty" doc:"JSON Schema that the final answer of a run matches: it is JSON then" example:"{\"type\":\"object\",\"properties\":{\"total\":{\"type\":\"integer\"}}}"`

	TextToolCalls agent.TextToolCalls `json:"text_tool_calls,omitempty" enum:"fallback,only" doc:"How to treat tool calls that the model writes in its text: fallback makes them where it has no native calls, only is for models without native calls and describes the tools in the instructions; text when absent"`
	Spaces        []string            `json:"spaces,omitempty" maxItems:"50" doc:"Slugs of the spaces that the agent may enter where it is a member, or [\"*\"] for every such space: it then has the built-ins of spaces, and must enter one before it calls a visible tool; it works outside of spaces when absent"`
	ToolGroups    []string            `json:"tool_groups,omitempty" maxItems:"20" doc:"Groups of tools that the agent has beside tools: categories of global tools, such as web. An agent with any group also has the tenant's own tools that models may call; [\"user_facing\"] is those alone. Tools that the principal of a run may not use are left out" example:"[\"web\"]"`

	Skills map[string]agent.Skill `json:"skills,omitempty" doc:"Tasks that tools can call the agent for, by name" example:"{\"summarize\":{\"instructions\":\"Answer in three sentences.\"}}"`

	Status   tool.Status `json:"status,omitempty" enum:"draft,deprecated,disabled" doc:"Only the publish endpoint sets published"`
	Version  string      `json:"version,omitempty" doc:"Number of the draft; 1.0.0 for a new agent when absent" example:"1.2.0"`
	Revision int64       `json:"revision,omitempty" doc:"Unless zero, the change fails if the agent has another revision, as with If-Match" example:"0"`
}

// SavedAgent is an agent as it was saved, with warnings.
type SavedAgent struct {
	Agent
	Warnings []string `json:"warnings,omitempty" example:"[\"no instructions: the model gets nothing but the conversation\"]"`
}
