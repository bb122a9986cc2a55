package graph

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// Definition is a graph as people write it: the implementation_config of a tool of the type
// graph. The tool's input_schema and output_schema are the graph's.
type Definition struct {
	// Type may repeat the implementation type, "graph".
	Type tool.Implementation `json:"type,omitempty"`
	// StateSchema is a JSON Schema that the state matches whenever a node sets it. Empty: any object.
	StateSchema json.RawMessage `json:"state_schema,omitempty"`
	// State is a binding of the first state, an object. Empty when missing.
	State json.RawMessage `json:"state,omitempty"`
	// Nodes are the nodes of the graph; it begins with the first.
	Nodes []Node `json:"nodes"`
	// Output is a binding of the graph's output where no end node has one. Defaults to the
	// result of the last node.
	Output json.RawMessage `json:"output,omitempty"`
	// Limits bound a run.
	Limits Limits `json:"limits,omitzero"`
	// OnError is a node of the graph, outside of bodies, that runs where the graph would fail;
	// /error tells it why. Once in a run. Empty: the graph fails.
	OnError string `json:"on_error,omitempty"`
}

// Limits bound a run of a graph. A zero field takes its default. Its time is the tool's
// execution.timeout_s.
type Limits struct {
	Steps int `json:"steps,omitempty"` // Nodes that begin, those of iterations and items counted each; default 10,000.
}

// Node is one node of a graph. Which fields it has depends on its kind: see docs/graphs.md.
type Node struct {
	// ID names the node, in bindings too: a slug, unique in the graph, bodies included.
	ID   string    `json:"id"`
	Kind flow.Kind `json:"kind"`
	// Title is for people who look at the graph.
	Title string `json:"title,omitempty"`
	// Next is the node that follows; the one after this in the list when empty.
	Next string `json:"next,omitempty"`
	// When is a condition in CEL: the node is skipped where it is false.
	When string `json:"when,omitempty"`
	// Set are bindings by member of the state, which they replace when the node has ended. They
	// may refer to the node itself.
	Set map[string]json.RawMessage `json:"set,omitempty"`
	// OnError is what a failure leads to: "fail" when empty, "continue", or a node to go to.
	OnError string `json:"on_error,omitempty"`
	// Retry makes a node that failed again. Without it the node fails at its first failure;
	// attempts of the call itself, as its tool allows them, are part of that.
	Retry *flow.Retry `json:"retry,omitempty"`
	// OutputSchema is a JSON Schema that the node's result must match; it fails otherwise.
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	// TimeoutSeconds bounds a call or a run of the node; its tool's time when zero. Of a wait
	// it is how long a signal may take.
	TimeoutSeconds float64 `json:"timeout_s,omitempty"`

	// Tool is the tool to call, optionally with a version constraint: of kinds tool, call_agent
	// and graph.
	Tool tool.Ref `json:"tool,omitzero"`
	// Arguments are an object of bindings: of kinds tool, call_agent, graph and agent.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Agent is the agent to run, optionally with a version constraint.
	Agent tool.Ref `json:"agent,omitzero"`
	// Message is a binding of the message to the agent: a text, or JSON.
	Message json.RawMessage `json:"message,omitempty"`
	// Form is a binding of what a person is asked: the arguments of request_input.
	Form json.RawMessage `json:"form,omitempty"`
	// Cases of a branch are tried in order; Default is where it goes when none holds.
	Cases   []Case `json:"cases,omitempty"`
	Default string `json:"default,omitempty"`
	// Branches of a parallel node run side by side. Its result is an object of their outputs.
	Branches []Branch `json:"branches,omitempty"`
	// Over is a binding of the array whose items a map runs its body for.
	Over json.RawMessage `json:"over,omitempty"`
	// Concurrency is how many items run at once; default 10.
	Concurrency int `json:"concurrency,omitempty"`
	// Tolerate is how many items may fail before the map does.
	Tolerate int `json:"tolerate,omitempty"`
	// Failed is what stands for failed items in the result: "drop" when empty, or "null".
	Failed FailedItems `json:"failed_items,omitempty"`
	// Reduce is how outputs of items become the result; "list" when empty.
	Reduce Reducer `json:"reduce,omitempty"`
	// While is the condition, in CEL, of another iteration of a loop, and Max how many it makes
	// at most: a loop that would go on fails.
	While string `json:"while,omitempty"`
	Max   int    `json:"max,omitempty"`
	// Nodes are the body of a map or loop.
	Nodes []Node `json:"nodes,omitempty"`
	// Seconds and Until are bindings of how long a wait takes, in seconds, or of its end, in
	// the form of RFC 3339; Signal is the name of a signal that it waits for. One of them.
	Seconds json.RawMessage `json:"seconds,omitempty"`
	Until   json.RawMessage `json:"until,omitempty"`
	Signal  string          `json:"signal,omitempty"`
	// Output is a binding of the output of the body that an end node, a map or a loop has.
	Output json.RawMessage `json:"output,omitempty"`
}

// Case is one way that a branch may go.
type Case struct {
	When string `json:"when"` // CEL.
	Next string `json:"next"` // A node of the same body.
}

// Branch is one of the bodies of a parallel node.
type Branch struct {
	ID     string          `json:"id"` // A slug, unique in its node.
	Nodes  []Node          `json:"nodes"`
	Output json.RawMessage `json:"output,omitempty"` // Defaults to the result of its last node.
}

// FailedItems is what stands for the failed items of a map in its result.
type FailedItems string

// What stands for failed items.
const (
	Drop FailedItems = "drop" // Nothing: the result is shorter.
	Null FailedItems = "null" // Null, at its place.
)

// Reducer is how the outputs of a map's items become its result.
type Reducer string

// Reducers.
const (
	List   Reducer = "list"   // An array, in the order of the items.
	Concat Reducer = "concat" // One array of the items' arrays.
	Merge  Reducer = "merge"  // One object of the items' objects; later ones win.
	Sum    Reducer = "sum"    // The sum of numbers.
	Count  Reducer = "count"  // How many items succeeded.
)

// Reducers lists every reducer.
func Reducers() []Reducer { return []Reducer{List, Concat, Merge, Sum, Count} }

// Effects of a failure, beside a node to go to.
const (
	Fail     = "fail"
	Continue = "continue"
)

// Bounds of graphs.
const (
	MaxNodes       = 200
	MaxDefinition  = 256 << 10 // Bytes.
	MaxBodies      = 8         // Bodies in bodies.
	MaxItems       = 100_000   // Of a map.
	MaxConcurrency = 200       // Items, or branches, at once.
	MaxIterations  = 10_000    // Of a loop.
	MaxState       = 64 << 10  // Bytes of the state.
	MaxSteps       = 200_000

	DefaultSteps       = 10_000
	DefaultConcurrency = 10
)

// FormTool is the tool that human nodes call, and SignalTool the one of waits for signals.
const (
	FormTool   = "request_input"
	SignalTool = "awaitSignal"
)
