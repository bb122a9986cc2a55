package tool

// Term is a value that tools are grouped and filtered by, with its words for people.
type Term struct {
	Name        string `json:"name" example:"http"`
	Label       string `json:"label" example:"HTTP request"`
	Description string `json:"description" example:"Sends one HTTP request, which the arguments fill in."`
}

// Terms are all values that tools are grouped and filtered by (checklist S3-70). The API serves them, and
// console and command line use them.
type Terms struct {
	Buckets       []Term `json:"buckets" doc:"Coarse classes of tools; derived, see tool_type"`
	Subtypes      []Term `json:"subtypes" doc:"Implementation types"`
	EgressClasses []Term `json:"egress_classes" doc:"From the least"`
	Risks         []Term `json:"risks" doc:"From the least"`
	Statuses      []Term `json:"statuses"`
}

// Taxonomy returns the terms of the platform itself. Hosts may have implementation types of their own.
func Taxonomy() Terms {
	return Terms{
		Buckets: []Term{
			{string(BucketCustom), "Custom", "Defined by the tenant."},
			{string(BucketBuiltIn), "Built in", "Come with the platform."},
			{string(BucketMCP), "MCP", "Tools of servers of the Model Context Protocol."},
			{string(BucketArtifact), "Artifact", "Programs that run in the sandbox."},
		},
		Subtypes: []Term{
			{string(HTTP), "HTTP request", "Sends an HTTP request, which the arguments fill in."},
			{string(MCP), "MCP tool", "Calls a tool of an MCP server."},
			{string(Function), "Function", "Calls a Go function that a worker registers under a name."},
			{string(Artifact), "Code", "Runs a program in the sandbox: JavaScript, jq or WebAssembly."},
			{string(RAGRetrieval), "Document search", "Searches the documents of a pipeline."},
			{string(AgentCall), "Agent", "Asks another agent, and waits for what it says."},
			{string(Task), "Task", "Starts a run of an agent that goes on by itself."},
			{string(Prompt), "Prompt", "Puts a text with the arguments to a model."},
			{string(Composition), "Composition", "Calls other tools one after the other, without a model."},
			{string(Graph), "Graph", "Runs nodes with branches, loops, people and waits."},
			{string(Client), "Client", "Answered by a browser or another program outside."},
			{string(Input), "Human input", "Answered by a person, on a page behind a link."},
			{string(Provider), "Provider", "Run by the provider of the model, within its answer."},
			{string(Internal), "Built-in", "Code of the platform by its key, or an echo of the arguments."},
			{string(Custom), "Custom executor", "Run by an executor that a worker registers under a name."},
		},
		EgressClasses: []Term{
			{string(EgressNone), "None", "Contacts nothing outside."},
			{string(EgressReadOnly), "Reads", "Reads from outside, and changes nothing there."},
			{string(EgressWrite), "Writes", "May change something outside: each call needs an approval."},
		},
		Risks: []Term{
			{string(RiskLow), "Low", "Little harm can be done."},
			{string(RiskMedium), "Medium", "Implied by reading from outside."},
			{string(RiskHigh), "High", "Implied by writing outside."},
		},
		Statuses: []Term{
			{string(Draft), "Draft", "Not published: it runs in debug mode alone."},
			{string(Published), "Published", "Has a version that runs."},
			{string(Deprecated), "Deprecated", "Runs where it is bound, and is bound nowhere else."},
			{string(Disabled), "Disabled", "Runs nowhere."},
		},
	}
}

// LabelOf returns the words for an implementation type: its name where it is a host's own.
func LabelOf(i Implementation) string {
	for _, t := range Taxonomy().Subtypes {
		if t.Name == string(i) {
			return t.Label
		}
	}
	return string(i)
}
