package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// SchemaID is the $id of the schema of the format.
const SchemaID = "https://toolcrib.dev/graph.schema.json"

// dict is a JSON object that is written with its members in the order of their names.
type dict = map[string]any

// JSONSchema returns the JSON Schema (draft 2020-12) of [Definition], for editors and for those who
// write graphs by program. It says what fields nodes have, and of which form; what [Parse] checks
// beside that, such as edges, conditions and references, no schema can say. It refuses null and
// empty texts where a field may as well be absent, which [Parse] takes.
func JSONSchema() []byte {
	s := dict{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SchemaID, "title": "Graph",
		"description": "The implementation_config of a tool of the type graph.",
		"$ref":        "#/$defs/definition",
		"$defs": dict{
			"definition": structSchema("definition", reflect.TypeFor[Definition](), "nodes"),
			"limits":     structSchema("limits", reflect.TypeFor[Limits]()),
			"node":       nodeSchema(),
			"case":       structSchema("case", reflect.TypeFor[Case](), "when", "next"),
			"branch":     structSchema("branch", reflect.TypeFor[Branch](), "id", "nodes"),
			"retry":      structSchema("retry", reflect.TypeFor[flow.Retry](), "attempts"),
		},
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil { // Maps and texts only.
		panic(fmt.Sprintf("graph: writing the schema: %v", err))
	}
	return out.Bytes()
}

// structSchema returns the schema of a struct whose fields are in [forms].
func structSchema(name string, t reflect.Type, required ...string) dict {
	properties := dict{}
	for f := range t.Fields() {
		field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		properties[field] = forms[name+"."+field]
	}
	out := dict{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// needed are the fields that nodes of a kind have; those of a wait are one of three.
var needed = map[flow.Kind][]string{
	flow.Tool: {"tool"}, flow.CallAgent: {"tool"}, flow.Sub: {"tool"}, flow.Agent: {"agent", "message"},
	flow.Human: {"form"}, flow.Branch: {"cases", "default"}, flow.Parallel: {"branches"}, flow.Map: {"over", "nodes"},
	flow.Loop: {"while", "max", "nodes"},
}

func nodeSchema() dict {
	out := structSchema("node", reflect.TypeFor[Node](), "id", "kind")
	kinds := make([]dict, 0, len(flow.Kinds()))
	for _, k := range flow.Kinds() {
		then, others := dict{}, dict{}
		for _, f := range fields {
			if !slices.Contains(f.kinds, k) {
				others[f.name] = false
			}
		}
		then["properties"] = others
		if len(needed[k]) > 0 {
			then["required"] = needed[k]
		}
		if k == flow.Wait {
			then["oneOf"] = []dict{
				{"required": []string{"seconds"}}, {"required": []string{"until"}}, {"required": []string{"signal"}},
			}
		}
		kinds = append(kinds, dict{
			"if":   dict{"properties": dict{"kind": dict{"const": k}}, "required": []string{"kind"}},
			"then": then,
		})
	}
	out["allOf"] = kinds
	return out
}

const (
	slugForm = `^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`
	refForm  = `^\s*([a-zA-Z][a-zA-Z0-9_-]{0,63}|[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12})(@.*\S.*)?\s*$`
)

func slug(doc string) dict { return dict{"type": "string", "pattern": slugForm, "description": doc} }

func reference(doc string) dict {
	return dict{"type": "string", "pattern": refForm, "description": doc, "examples": []string{"findOrder@^1.0"}}
}

func expression(doc string) dict {
	return dict{"type": "string", "minLength": 1, "maxLength": maxExpression, "description": doc}
}

// anything is a binding.
func anything(doc string) dict {
	return dict{"description": doc + ` A binding: JSON in which {"$from": "/input/name"} stands for a value.`}
}

func members(doc string) dict {
	out := anything(doc)
	out["type"] = "object"
	return out
}

func aSchema(doc string) dict {
	return dict{"type": []string{"object", "boolean"}, "description": doc + " A JSON Schema."}
}

func amount(doc, kind string, least, most any) dict {
	out := dict{"type": kind, "minimum": least, "description": doc}
	if most != nil {
		out["maximum"] = most
	}
	return out
}

func list(doc, of string, most int) dict {
	out := dict{"type": "array", "items": dict{"$ref": "#/$defs/" + of}, "minItems": 1, "description": doc}
	if most > 0 {
		out["maxItems"] = most
	}
	return out
}

func choice[T ~string](doc string, from []T) dict {
	return dict{"type": "string", "enum": from, "description": doc}
}

// forms are the fields of the format, by the name of their struct.
var forms = map[string]dict{
	"definition.type":         {"const": tool.Graph, "description": "May repeat the type of the tool."},
	"definition.state_schema": aSchema("What the state matches whenever a node sets it."),
	"definition.state":        members("The first state."),
	"definition.nodes":        list("The nodes; the graph begins with the first.", "node", MaxNodes),
	"definition.output":       anything("The output, where no end node has one; the result of the last node when absent."),
	"definition.limits":       {"$ref": "#/$defs/limits", "description": "Bounds of a run."},
	"definition.on_error":     slug("A node outside of bodies that runs, once, where the graph would fail."),

	"limits.steps": amount("How many nodes may begin, those of items and iterations counted each; default 10,000.",
		"integer", 0, MaxSteps),

	"node.id":    slug("Names the node; unique in the graph, bodies included."),
	"node.kind":  choice("What the node does.", flow.Kinds()),
	"node.title": {"type": "string", "description": "For people who look at the graph."},
	"node.next":  slug("The node that follows; the one after this in the list when absent."),
	"node.when":  expression("A condition in CEL: the node is skipped where it is false."),
	"node.set": {
		"type": "object", "description": "Bindings by member of the state, set once the node has ended.",
	},
	"node.on_error":      slug("What a failure leads to: fail (when absent), continue, or a node."),
	"node.retry":         {"$ref": "#/$defs/retry", "description": "Makes a node that failed again."},
	"node.output_schema": aSchema("What the result of the node matches."),
	"node.timeout_s": amount("Seconds that a call or run may take, the tool's when absent; of a wait for a signal.",
		"number", 0, nil),
	"node.tool":         reference("The tool to call, and its version."),
	"node.arguments":    members("Arguments of the call."),
	"node.agent":        reference("The agent to run, and its version."),
	"node.message":      anything("The message to the agent."),
	"node.form":         members("What a person is asked: the arguments of " + FormTool + "."),
	"node.cases":        list("Tried in order.", "case", 0),
	"node.default":      slug("Where a branch goes when no case holds."),
	"node.branches":     list("Bodies that run side by side.", "branch", MaxConcurrency),
	"node.over":         anything("The array whose items the body runs for."),
	"node.concurrency":  amount("How many items run at once; default 10.", "integer", 0, MaxConcurrency),
	"node.tolerate":     amount("How many items may fail before the map does.", "integer", 0, nil),
	"node.failed_items": choice("What stands for failed items in the result; default drop.", []FailedItems{Drop, Null}),
	"node.reduce":       choice("How outputs of items become the result; default list.", Reducers()),
	"node.while":        expression("The condition, in CEL, of another iteration."),
	"node.max":          amount("How many iterations at most.", "integer", 1, MaxIterations),
	"node.nodes":        list("The body of a map or loop.", "node", MaxNodes),
	"node.seconds":      anything("How long to wait."),
	"node.until":        anything("When the wait ends, in the form of RFC 3339."),
	"node.signal":       slug("The name of the signal to wait for."),
	"node.output":       anything("The output of the body, or of the graph."),

	"case.when": expression("A condition in CEL."),
	"case.next": slug("A node of the same body."),

	"branch.id":     slug("Unique in its node."),
	"branch.nodes":  list("The nodes of the branch.", "node", MaxNodes),
	"branch.output": anything("The output of the branch; the result of its last node when absent."),

	"retry.attempts": amount("How often in all, the first counted.", "integer", 2, 20),
	"retry.delay_s":  amount("Seconds before the second attempt; default 1.", "number", 0, nil),
	"retry.backoff": {
		"type": "number", "anyOf": []dict{{"const": 0}, {"minimum": 1}}, "description": "Factor between delays; default 2.",
	},
	"retry.max_delay_s": amount("Seconds between attempts at most; default 300.", "number", 0, nil),
	"retry.on": {
		"type": "array", "items": dict{"enum": tool.Kinds()}, "description": "Kinds of failures to retry; all when absent.",
	},
}
