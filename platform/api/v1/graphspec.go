package v1

import "encoding/json"

// ValidateGraph asks whether the configuration of a graph or composition is sound.
type ValidateGraph struct {
	Config      json.RawMessage `json:"config" doc:"The implementation_config of a tool of the type graph, with nodes, or composition, with steps" example:"{\"nodes\":[{\"id\":\"look\",\"kind\":\"tool\",\"tool\":\"searchOrders\"}]}"`
	InputSchema json.RawMessage `json:"input_schema,omitempty" doc:"The tool's input schema: references into the input are checked against it" example:"{\"type\":\"object\"}"`
}

// ValidatedGraph says whether a graph is sound.
type ValidatedGraph struct {
	Sound  bool         `json:"sound"`
	Faults []GraphFault `json:"faults" nullable:"false"`
}

// GraphFault is one thing that is wrong with a graph.
type GraphFault struct {
	Path    string `json:"path" doc:"JSON Pointer in the configuration" example:"/nodes/0/next"`
	Message string `json:"message" example:"there is no node \"zz\""`
}

// Graph is a graph as a list and as pictures.
type Graph struct {
	Tool    string      `json:"tool" example:"checkOrders"`
	Version string      `json:"version,omitempty" doc:"Absent of the draft" example:"1.0.0"`
	Steps   []GraphStep `json:"steps" nullable:"false" doc:"Its nodes in the order of the definition, those of bodies below theirs"`
	Mermaid string      `json:"mermaid" doc:"A flowchart"`
	SVG     string      `json:"svg" doc:"A picture, one document"`
}

// GraphStep is a node of a graph as a line of text.
type GraphStep struct {
	Depth  int    `json:"depth,omitempty" doc:"How many bodies it is in"`
	Node   string `json:"node" doc:"Its id; of a branch, its id in brackets" example:"charge"`
	Kind   string `json:"kind,omitempty" example:"tool"`
	Detail string `json:"detail,omitempty" doc:"What it works on" example:"chargeCard@^1.0"`
	Leads  string `json:"leads_to,omitempty" example:"ship"`
	Status string `json:"status,omitempty" doc:"In the run" example:"completed"`
	Badge  string `json:"counted,omitempty" doc:"Of a map or loop, items that completed of all, or iterations" example:"38/40"`
}

// GraphDiff is what changed between two versions of a graph.
type GraphDiff struct {
	Tool    string        `json:"tool" example:"checkOrders"`
	From    string        `json:"from,omitempty" doc:"Absent of the draft" example:"1.0.0"`
	To      string        `json:"to,omitempty" doc:"Absent of the draft" example:"1.1.0"`
	Changes []GraphChange `json:"changes" nullable:"false"`
}

// GraphChange is one difference.
type GraphChange struct {
	What string          `json:"what" enum:"added,removed,changed"`
	Node string          `json:"node,omitempty" doc:"Absent of the graph itself" example:"charge"`
	Path string          `json:"path,omitempty" doc:"JSON Pointer in the node, or in the configuration; absent for a whole node" example:"/arguments/id"`
	From json.RawMessage `json:"from,omitempty"`
	To   json.RawMessage `json:"to,omitempty"`
}

// ImportGraph asks for definitions of a document of Open Agent Specification.
type ImportGraph struct {
	Document json.RawMessage `json:"document" doc:"The document: as JSON, or in a string as JSON or YAML. At most 4 MiB" example:"{\"component_type\":\"Flow\",\"id\":\"f\",\"name\":\"Nothing\",\"start_node\":{\"$component_ref\":\"s\"},\"nodes\":[{\"$component_ref\":\"s\"},{\"$component_ref\":\"e\"}],\"control_flow_connections\":[{\"component_type\":\"ControlFlowEdge\",\"id\":\"c\",\"name\":\"on\",\"from_node\":{\"$component_ref\":\"s\"},\"to_node\":{\"$component_ref\":\"e\"}}],\"$referenced_components\":{\"s\":{\"component_type\":\"StartNode\",\"id\":\"s\",\"name\":\"start\"},\"e\":{\"component_type\":\"EndNode\",\"id\":\"e\",\"name\":\"end\"}},\"agentspec_version\":\"26.1.2\"}"`
	Slug     string          `json:"slug,omitempty" maxLength:"64" doc:"Slug of the graph; made of its name when absent" example:"checkOrders"`
	Model    string          `json:"model,omitempty" maxLength:"200" doc:"Model of all prompts and agents, instead of those of the document" example:"openai/gpt-4.1-mini"`
	Draft    bool            `json:"draft,omitempty" doc:"Leave the definitions unpublished"`
}

// ImportedGraph is what was made of a document.
type ImportedGraph struct {
	Slug        string            `json:"slug" doc:"Of the graph, or of the agent where the document is one" example:"checkOrders"`
	Definitions []json.RawMessage `json:"definitions" nullable:"false" doc:"Definitions for apply"`
	Losses      []GraphLoss       `json:"losses" nullable:"false" doc:"What was dropped, is done differently, or has to exist"`
}

// ExportedGraph is a graph as a document of Open Agent Specification.
type ExportedGraph struct {
	Document json.RawMessage `json:"document"`
	Losses   []GraphLoss     `json:"losses" nullable:"false" doc:"What other readers of the document do not see, and what it uses that is not described in it"`
}

// GraphLoss is something that the outcome of an import or export lacks, changed or needs.
type GraphLoss struct {
	Path   string `json:"path" doc:"JSON Pointer in the document, or in the configuration of the graph" example:"/nodes/0/retry"`
	What   string `json:"what" enum:"dropped,changed,needed"`
	Reason string `json:"reason" example:"kept as metadata: others do without it"`
}
