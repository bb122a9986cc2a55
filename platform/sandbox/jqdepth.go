package sandbox

import (
	"context"
	"errors"
	"reflect"

	"github.com/itchyny/gojq"
)

const (
	// maxJQDepth is how many calls of functions may be open in a filter. A call
	// in the tail of a function is not one more.
	maxJQDepth = 200_000
	// jqStride is after how many instructions the depth is checked.
	jqStride = 512
)

var errJQDepth = errors.New("the filter recurses too deep")

// jqGuard ends a filter with infinite recursion, by its depth and before it
// exhausts the memory. The machine checks its context before each instruction;
// its call stack is an unexported field of the library, which is read by
// reflection.
type jqGuard struct {
	context.Context //nolint:containedctx // It is one.

	steps   int
	depth   reflect.Value // Invalid if the library has no such field.
	tooDeep bool
}

var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// watch sets the machine that runs under the guard.
func (g *jqGuard) watch(machine gojq.Iter) {
	v := reflect.ValueOf(machine)
	for _, field := range []string{"scopes", "index"} {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return
		}
		v = v.FieldByName(field)
	}
	if v.IsValid() && v.CanInt() {
		g.depth = v
	}
}

// Done implements [context.Context].
func (g *jqGuard) Done() <-chan struct{} {
	if g.steps++; g.steps%jqStride == 0 && g.depth.IsValid() && g.depth.Int() > maxJQDepth {
		g.tooDeep = true
		return closed
	}
	return g.Context.Done()
}

// Err implements [context.Context].
func (g *jqGuard) Err() error {
	if g.tooDeep {
		return errJQDepth
	}
	return g.Context.Err()
}
