package executors

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib/tool"
)

// Mux dispatches each call to the executor registered for its implementation
// type. It is safe for concurrent use.
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
// panics when the type is empty or registered already, or e is nil: these are
// programming errors.
func (m *Mux) Handle(impl tool.Implementation, e tool.Executor) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case impl == "":
		panic("executors: empty implementation type")
	case e == nil:
		panic(fmt.Sprintf("executors: nil executor for %q", impl))
	case m.executors[impl] != nil:
		panic(fmt.Sprintf("executors: %q is registered already", impl))
	}
	m.executors[impl] = e
	m.chains[impl] = wrap(e, m.middleware)
}

// Use wraps all executors in middleware, those registered later included.
// Within one Use, the first middleware is the outermost; a later Use is inside
// an earlier one.
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
// with [tool.Invalid] and a message that names the type.
func (m *Mux) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	if call == nil || call.Version == nil {
		return nil, &tool.Error{Kind: tool.InternalError, Op: "executors.Mux", Msg: "the call has no tool version"}
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
