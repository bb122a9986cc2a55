package function

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Registry holds the functions that tools may name. It is safe for concurrent
// use; functions are usually defined before the worker starts.
type Registry struct {
	mu        sync.RWMutex
	functions map[string]*function
	former    map[string]*function         // By the names that their tools had, see [FormerName].
	defined   []*function                  // In the order of their definition.
	read      *cache.Cache[string, string] // Function names by configuration.
	schemas   *schema.Cache                // Of the functions' inputs.
	detached  chan struct{}                // See [MaxDetached].

	life    sync.Mutex // Held while hooks open and close.
	holders int        // Number of Open calls without a Close.
	open    atomic.Bool
}

// maxRead bounds the cached configurations.
const maxRead = 1000

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{
		functions: make(map[string]*function), former: make(map[string]*function),
		read:    cache.New[string, string](cache.Options{Entries: maxRead}),
		schemas: schema.New(0), detached: make(chan struct{}, MaxDetached),
	}
}

// Tool is the definition that a registered function has as a tool.
type Tool struct {
	Definition tool.Definition
	Policy     tool.Policy
	Tenants    []tool.TenantID // Empty for all. See [Tenants].
	Version    string          // Empty unless it is published. See [Publish].

	byName     bool
	middleware []tool.Middleware
	hooks      Hooks
}

// Names returns the names of all functions, sorted.
func (r *Registry) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make([]string, 0, len(r.functions))
	for name := range r.functions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Reachable returns the names that configurations may use: current and former
// names of all functions, sorted. It is never nil.
func (r *Registry) Reachable() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := slices.AppendSeq(make([]string, 0, len(r.functions)+len(r.former)), maps.Keys(r.functions))
	names = slices.AppendSeq(names, maps.Keys(r.former))
	slices.Sort(names)
	return slices.Compact(names)
}

// Tool returns a definition and a policy for a tool that runs the named
// function; ok is false when it is not registered. The caller may change them.
func (r *Registry) Tool(name string) (t Tool, ok bool) {
	f := r.find(name)
	if f == nil {
		return Tool{}, false
	}
	t = f.tool
	t.Definition.InputSchema = bytes.Clone(t.Definition.InputSchema)
	t.Definition.OutputSchema = bytes.Clone(t.Definition.OutputSchema)
	t.Definition.Config = bytes.Clone(t.Definition.Config)
	t.Definition.Interaction.Aliases = slices.Clone(t.Definition.Interaction.Aliases)
	t.Definition.Interaction.FormerNames = maps.Clone(t.Definition.Interaction.FormerNames)
	t.Tenants = slices.Clone(t.Tenants)
	return t, true
}

// CheckConfig checks a function tool's configuration by itself: it must have
// function_name and nothing else. It fails with [tool.Invalid] and the JSON
// Pointer of the fault.
func CheckConfig(raw json.RawMessage) error {
	_, err := nameIn(raw)
	return err
}

// CheckConfig checks a function tool's configuration: function_name must be
// given and registered. It fails with [tool.Invalid] and the JSON Pointer of the
// fault. It does not check [Tenants]: the call does.
func (r *Registry) CheckConfig(raw json.RawMessage) error {
	_, err := r.configured(raw)
	return err
}

// configured returns the function that a configuration names.
func (r *Registry) configured(raw json.RawMessage) (*function, error) {
	name, known := r.read.Get(string(raw))
	if !known {
		var err error
		if name, err = nameIn(raw); err != nil {
			return nil, err
		}
		r.read.Set(string(raw), name)
	}
	f := r.find(name)
	if f == nil {
		return nil, unknown(name)
	}
	return f, nil
}

// nameIn returns the function's name in a configuration.
func nameIn(raw json.RawMessage) (string, error) {
	var c struct {
		Type         tool.Implementation `json:"type"`
		FunctionName string              `json:"function_name"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil && len(bytes.TrimSpace(raw)) > 0 {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return "", fault("/"+e.Field, "want a string")
		}
		return "", fault("", `want {"function_name": "…"} and nothing else`)
	}
	if c.Type != "" && c.Type != tool.Function {
		return "", fault("/type", fmt.Sprintf("%q is not function", c.Type))
	}
	if c.FunctionName == "" {
		return "", fault("/function_name", "required")
	}
	return c.FunctionName, nil
}

func unknown(name string) *tool.Error {
	return fault("/function_name", fmt.Sprintf("no function %q is registered", name))
}

func (r *Registry) find(name string) *function {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if f := r.functions[name]; f != nil {
		return f
	}
	return r.former[name]
}

// add registers f, unless its name is taken. A function with an Open hook must be
// added before the registry is opened.
func (r *Registry) add(f *function) error {
	name := f.tool.Definition.Name
	f.detached = r.detached
	f.executor = f.wrapped()
	r.life.Lock()
	defer r.life.Unlock()
	if r.holders > 0 && f.tool.hooks.live() {
		return fmt.Errorf("defining function %q: it has an Open hook, and the registry is open already", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.functions[name] != nil {
		return fmt.Errorf("defining function %q: the name is taken", name)
	}
	for old := range f.tool.Definition.Interaction.FormerNames {
		if other := r.former[old]; other != nil {
			return fmt.Errorf("defining function %q: %q is a former name of %q already", name, old, other.tool.Definition.Name)
		}
	}
	for old := range f.tool.Definition.Interaction.FormerNames {
		r.former[old] = f
	}
	r.functions[name] = f
	r.defined = append(r.defined, f)
	return nil
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "function.CheckConfig", Path: path, Msg: msg}
}
