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
	// jqStride is after how many instructions the depth is looked at.
	jqStride = 512
)

var errJQDepth = errors.New("the filter recurses too deep")

// jqGuard ends a filter that recurses without end, by its depth instead of by
// the memory that takes. The machine asks its context before each instruction;
// its stack of calls is a field that the library does not export, and is read
// where it is.
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

// watch takes the machine that runs under the guard.
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
