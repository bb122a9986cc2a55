package function

import (
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// Callable lets the built-in function_call call the function by its name, for
// the tenants that may run it. No other function can be called by name: a model
// that has function_call may call all callable functions, whatever tools it has.
// Functions that are [ForUsers] are excluded, since only models call by name.
func Callable() Option { return func(t *Tool) { t.byName = true } }

// Callable returns the definitions, sorted by name, of the functions that a
// tenant may call by name: those defined with [Callable].
func (e *Executor) Callable(tenant tool.TenantID) []tool.Definition {
	var out []tool.Definition
	for _, name := range e.registry.Names() {
		t, ok := e.registry.Tool(name)
		if ok && t.byName && t.Definition.Interaction.ForModels() &&
			(len(t.Tenants) == 0 || slices.Contains(t.Tenants, tenant)) {
			out = append(out, t.Definition)
		}
	}
	return out
}
