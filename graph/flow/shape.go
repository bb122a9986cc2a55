package flow

import (
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// Kind is the kind of a node.
type Kind string

// Kinds of nodes.
const (
	Start     Kind = "start"      // Does nothing: a place to begin, and to set state.
	Tool      Kind = "tool"       // Calls a tool.
	Agent     Kind = "agent"      // Runs an agent.
	CallAgent Kind = "call_agent" // Calls a tool whose calls run an agent.
	Branch    Kind = "branch"     // Goes to one of several nodes.
	Parallel  Kind = "parallel"   // Runs branches side by side.
	Map       Kind = "map"        // Runs a body for each item of an array.
	Loop      Kind = "loop"       // Runs a body while a condition holds.
	Human     Kind = "human"      // Asks a person, and waits.
	Wait      Kind = "wait"       // Waits for a time or a signal.
	Sub       Kind = "graph"      // Runs another graph.
	End       Kind = "end"        // Ends its body, or the graph.
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{Start, Tool, Agent, CallAgent, Branch, Parallel, Map, Loop, Human, Wait, Sub, End}
}

// Calls reports whether a node of the kind makes a call or a run.
func (k Kind) Calls() bool { return slices.Contains([]Kind{Tool, Agent, CallAgent, Human, Sub}, k) }

// Shape is the form of a graph without its content: its nodes, and where they lead. Runs pin it.
type Shape struct {
	First   string `json:"first"` // The first node's id.
	Nodes   []Node `json:"nodes"`
	OnError string `json:"on_error,omitempty"` // The node that runs where the graph would fail.
	Steps   int    `json:"steps"`              // How many nodes may begin.
	// Sequence says that nothing is evaluated or recorded beside the calls of the nodes, which is what
	// compositions are: a machine gives calls only.
	Sequence bool `json:"sequence,omitempty"`
}

// Node is the form of one node.
type Node struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	Next string `json:"next,omitempty"` // Empty where the body ends.
	// Begins says that something is evaluated before the node's call or bodies.
	Begins bool `json:"begins,omitempty"`
	// Signals says that a wait is for a signal: a call that is answered from outside.
	Signals  bool   `json:"signals,omitempty"`
	Continue bool   `json:"continue,omitempty"` // A failure leads to Next.
	FailTo   string `json:"fail_to,omitempty"`  // A failure leads there.
	Retry    *Retry `json:"retry,omitempty"`
	Bodies   []Body `json:"bodies,omitempty"`
	// Concurrency is how many bodies run at once; zero for all.
	Concurrency int `json:"concurrency,omitempty"`
	Tolerate    int `json:"tolerate,omitempty"` // How many items may fail.
	Max         int `json:"max,omitempty"`      // Iterations of a loop.
}

// Body is a branch of a parallel node, or the body of a map or loop.
type Body struct {
	ID    string `json:"id,omitempty"` // Of a branch.
	First string `json:"first"`
}

// Retry says how often a node that failed is made again.
type Retry struct {
	Attempts     int         `json:"attempts"`              // In all, the first counted: 2 to 20.
	DelaySeconds float64     `json:"delay_s,omitempty"`     // Before the second; default 1.
	Backoff      float64     `json:"backoff,omitempty"`     // Factor between delays; default 2.
	MaxDelay     float64     `json:"max_delay_s,omitempty"` // Default 300.
	Kinds        []tool.Kind `json:"on,omitempty"`          // Of failures to retry; all when empty.
}

// Find returns the node with an id.
func (s *Shape) Find(id string) *Node {
	for i := range s.Nodes {
		if s.Nodes[i].ID == id {
			return &s.Nodes[i]
		}
	}
	return nil
}

// calls reports whether a node makes a call or a run.
func (n *Node) calls() bool { return n.Kind.Calls() || n.Signals }

// answers reports whether the node has a result that may be its body's.
func (n *Node) answers() bool { return n.Kind != Start && n.Kind != Branch && n.Kind != End }
