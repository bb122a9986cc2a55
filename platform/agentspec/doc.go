// Package agentspec reads and writes graphs in the format of Open Agent Specification, version 26.1.2. It is pure:
// a document and options in, definitions or a document out.
//
// [Import] makes definitions of a flow or an agent: a tool of the type graph for each flow, http tools of requests,
// prompt tools of prompts, client tools, and agents, ready to be applied. [Export] makes a document of a graph. Both
// list all that the other side has no words for ([Loss]). What only Toolcrib knows of a node, such as its retries, is
// exported as metadata of its component, which other readers pass over and Import takes up again.
package agentspec

// Version is the version of the format that is written. Documents of 25.4.1 to 26.2.0 are read.
const Version = "26.1.2"

// Limits of documents.
const (
	MaxDocument = 4 << 20 // Bytes.

	maxValues = 200_000 // JSON values.
	maxDepth  = 100     // JSON values in one another.
	maxNodes  = 400     // Nodes of all flows, those of a flow that is used twice counted twice.
	maxFlows  = 12      // Flows in one another.
	maxRefs   = 20      // References in a chain.
	maxFaults = 100
	maxLosses = 500
)
