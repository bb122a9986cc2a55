package executors

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib/tool"
)

// Mux is an executor that hands each call to the one registered for its
// implementation type. It is safe for concurrent use.
type Mux struct {
	mu         sync.RWMutex
	executors  map[tool.Implementation]tool.Executor
	chains     map[tool.Implementation]tool.Executor // With middleware around.
	middleware []tool.Middleware
}

// NewMux returns a mux without executors.
func NewMux() *Mux {
	return &Mux{
		executors: make(map[tool.Implementation]tool.Executor),
		chains:    make(map[tool.Implementation]tool.Executor),
	}
}

// Handle registers the executor of an implementation type. Like ServeMux, it
// panics when the type is empty or has one already, or e is nil: these are
// mistakes of the program's wiring.
func (m *Mux) Handle(impl tool.Implementation, e tool.Executor) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case impl == "":
		panic("executors: an executor without an implementation type")
	case e == nil:
		panic(fmt.Sprintf("executors: nil executor for %q", impl))
	case m.executors[impl] != nil:
		panic(fmt.Sprintf("executors: two executors for %q", impl))
	}
	m.executors[impl] = e
	m.chains[impl] = wrap(e, m.middleware)
}

// Use puts middleware around all executors, those registered later included.
// The first one given is the outermost; those of a later Use are inside those
// of an earlier one.
func (m *Mux) Use(middleware ...tool.Middleware) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.middleware = append(m.middleware, middleware...)
	for impl, e := range m.executors {
		m.chains[impl] = wrap(e, m.middleware)
	}
}

// Types returns the implementation types that have an executor, sorted.
func (m *Mux) Types() []tool.Implementation {
	m.mu.RLock()
	defer m.mu.RUnlock()
	types := make([]tool.Implementation, 0, len(m.executors))
	for impl := range m.executors {
		types = append(types, impl)
	}
	slices.Sort(types)
	return types
}

// Execute implements [tool.Executor]. The type is the definition's, or else
// the "type" of its configuration. A call whose type has no executor fails
// with [tool.Invalid] and a message that names the type: nothing ever succeeds
// by not being run.
func (m *Mux) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	if call == nil || call.Version == nil {
		return nil, &tool.Error{Kind: tool.InternalError, Op: "executors.Mux", Msg: "the call names no tool version"}
	}
	impl := call.Version.Snapshot.ImplementationType()
	m.mu.RLock()
	e := m.chains[impl]
	m.mu.RUnlock()
	if e != nil {
		return e.Execute(ctx, call)
	}
	msg := fmt.Sprintf("tool %s: no executor for implementation type %q", call.Version, impl)
	if impl == "" {
		msg = fmt.Sprintf("tool %s has no implementation type", call.Version)
	}
	return nil, &tool.Error{Kind: tool.Invalid, Op: "executors.Mux", Msg: msg, Path: "/implementation_type"}
}

func wrap(e tool.Executor, middleware []tool.Middleware) tool.Executor {
	for _, m := range slices.Backward(middleware) {
		e = m(e)
	}
	return e
}
