package function

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// Open runs the functions' Open hooks, in the order of their definition. When
// one fails, those already opened are closed. A worker opens its registry; a host
// that runs functions without a worker calls Open itself. Opening an open
// registry only increments a count, and the last [Registry.Close] closes it.
func (r *Registry) Open(ctx context.Context) error {
	r.life.Lock()
	defer r.life.Unlock()
	if r.holders > 0 {
		r.holders++
		return nil
	}
	var opened []*function
	for _, f := range r.attended() {
		if open := f.tool.hooks.Open; open != nil {
			if err := open(ctx); err != nil {
				return errors.Join(fmt.Errorf("opening function %q: %w", f.tool.Definition.Name, err), closeAll(opened))
			}
		}
		opened = append(opened, f)
	}
	r.holders = 1
	r.open.Store(true)
	return nil
}

// Close runs the functions' Close hooks in reverse order. Call it when no call is
// running any more. Closing a closed registry does nothing.
func (r *Registry) Close() error {
	r.life.Lock()
	defer r.life.Unlock()
	if r.holders == 0 {
		return nil
	}
	if r.holders--; r.holders > 0 {
		return nil
	}
	r.open.Store(false)
	return closeAll(r.attended())
}

// attended returns the functions with Open or Close hooks, in the order of their
// definition.
func (r *Registry) attended() []*function {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.DeleteFunc(slices.Clone(r.defined), func(f *function) bool { return !f.tool.hooks.live() })
}

// live reports whether there is an Open or Close hook.
func (h *Hooks) live() bool { return h.Open != nil || h.Close != nil }

func closeAll(functions []*function) error {
	var errs []error
	for _, f := range slices.Backward(functions) {
		if shut := f.tool.hooks.Close; shut != nil {
			if err := shut(); err != nil {
				errs = append(errs, fmt.Errorf("closing function %q: %w", f.tool.Definition.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// ready refuses a function with an Open hook while the registry is not open.
func (r *Registry) ready(f *function) error {
	if f.tool.hooks.Open == nil || r.open.Load() {
		return nil
	}
	return &tool.Error{
		Kind: tool.Unavailable, Op: "function.Execute",
		Msg: fmt.Sprintf("function %q is not open: no worker has started, or the last has stopped", f.tool.Definition.Name),
	}
}
