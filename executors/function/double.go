package function

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Summary is a function without its program and schemas, as a list of what a worker brings shows it.
type Summary struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Version     string      `json:"version,omitempty"` // Empty unless it is published.
	Egress      tool.Egress `json:"egress_class"`
	Pure        bool        `json:"pure,omitempty"`
}

// Summaries returns a summary of each function, by name.
func (r *Registry) Summaries() []Summary {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]Summary, 0, len(r.functions))
	for _, name := range slices.Sorted(maps.Keys(r.functions)) {
		t := r.functions[name].tool
		out = append(out, Summary{
			Name: name, Description: t.Definition.Description, Version: t.Version, Egress: t.Policy.EgressClass,
			Pure: t.Definition.Execution.Pure,
		})
	}
	return out
}

// Doubles answer for functions in tests: of an agent, a graph or a workflow that calls tools which must not act.
// They record what they were called with. They are safe for concurrent use.
type Doubles struct {
	schemas *schema.Cache
	tools   map[string]Tool

	mu      sync.Mutex
	answers map[string]*tool.Result
	calls   map[string][]json.RawMessage
}

// Double returns a registry with the same tools, none of whose functions run, and the doubles that answer for
// them. Arguments are prepared and refused as the functions' are; middleware and hooks do not run. A call
// without an answer fails with tool.NotFound, which fails the test that forgot it.
func (r *Registry) Double() (*Registry, *Doubles, error) {
	d := &Doubles{
		schemas: schema.New(0), tools: make(map[string]Tool), answers: make(map[string]*tool.Result),
		calls: make(map[string][]json.RawMessage),
	}
	out := NewRegistry()
	for _, name := range r.Names() {
		t, _ := r.Tool(name)
		t.middleware, t.hooks = nil, Hooks{}
		input, err := out.schemas.Compile(t.Definition.InputSchema)
		if err != nil {
			return nil, nil, fmt.Errorf("doubling function %q: %w", name, err)
		}
		d.tools[name] = t
		if err := out.add(&function{tool: t, input: input, run: d.answering(name)}); err != nil {
			return nil, nil, err
		}
	}
	return out, d, nil
}

// Answer sets what a function answers from now on. It fails with tool.NotFound for an unknown function, and with
// tool.Invalid where the output schema does not accept the value: a double that answers what the function never
// would proves nothing.
func (d *Doubles) Answer(name string, value any) error {
	const op = "function.Answer"
	t, known := d.tools[name]
	if !known {
		return &tool.Error{Kind: tool.NotFound, Op: op, Msg: fmt.Sprintf("no function %q is registered", name)}
	}
	if result, whole := value.(*tool.Result); whole {
		d.set(name, result)
		return nil
	}
	result, err := answer(value)
	if err != nil {
		return fmt.Errorf("the answer of function %q: %w", name, err)
	}
	raw := result.Structured
	if t.Definition.OutputSchema != nil {
		output, err := d.schemas.Compile(t.Definition.OutputSchema)
		if err != nil {
			return fmt.Errorf("compiling the output schema of function %q: %w", name, err)
		}
		if err := output.Validate(context.Background(), raw); err != nil {
			return &tool.Error{
				Kind: tool.Invalid, Op: op, Msg: fmt.Sprintf("function %q never answers so: %s", name, tool.AsError(err).Msg),
				Err: err,
			}
		}
	}
	d.set(name, result)
	return nil
}

func (d *Doubles) set(name string, result *tool.Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers[name] = result
}

// Calls returns the arguments of the calls of a function, in their order.
func (d *Doubles) Calls(name string) []json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls[name])
}

func (d *Doubles) answering(name string) func(context.Context, json.RawMessage) (*tool.Result, error) {
	return func(_ context.Context, args json.RawMessage) (*tool.Result, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.calls[name] = append(d.calls[name], bytes.Clone(args))
		result := d.answers[name]
		if result == nil {
			return nil, &tool.Error{
				Kind: tool.NotFound, Op: "function.Double", Msg: fmt.Sprintf("the double of function %q has no answer", name),
			}
		}
		answer := *result
		return &answer, nil
	}
}
