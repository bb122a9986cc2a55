package sandbox

import (
	"errors"
	"reflect"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// An engine that is out of memory throws an error that a program could also
// create, or, without memory for that error, null. Only its allocator shows
// reliably that memory is exhausted, so its failures are counted here.

// allocate and reallocate are the engine's own functions, the same for every
// machine.
var allocate, reallocate atomic.Uintptr

// refusals counts the allocations that the engine refused. A process runs one
// program at a time.
var refusals atomic.Int64

func watchedAllocate(tls *libc.TLS, state uintptr, size lib.Tsize_t) uintptr {
	p := allocate.Load()
	own := *(*func(*libc.TLS, uintptr, lib.Tsize_t) uintptr)(unsafe.Pointer(&p)) //nolint:gosec // As the engine does.
	at := own(tls, state, size)
	if at == 0 && size > 0 {
		refusals.Add(1)
	}
	return at
}

func watchedReallocate(tls *libc.TLS, state, old uintptr, size lib.Tsize_t) uintptr {
	p := reallocate.Load()
	own := *(*func(*libc.TLS, uintptr, uintptr, lib.Tsize_t) uintptr)(unsafe.Pointer(&p)) //nolint:gosec // As above.
	at := own(tls, state, old, size)
	if at == 0 && size > 0 {
		refusals.Add(1)
	}
	return at
}

var errNoAllocator = errors.New("the machine has no allocator where one was expected")

// watchMemory counts the failed allocations of a machine from now on. The
// returned function reports whether there were any.
func watchMemory(vm *quickjs.VM) (refused func() bool, err error) {
	v := reflect.ValueOf(vm).Elem().FieldByName("runtime")
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, errNoAllocator
	}
	if v = v.Elem().FieldByName("cRuntime"); v.Kind() != reflect.Uintptr || v.Uint() == 0 {
		return nil, errNoAllocator
	}
	handle := uintptr(v.Uint())
	engine := *(**lib.TJSRuntime)(unsafe.Pointer(&handle)) //nolint:gosec // In memory that Go does not move.
	functions := &engine.Fmalloc_ctx.Fmf
	replace(&functions.Fjs_malloc, &allocate, pointerTo(watchedAllocate))
	replace(&functions.Fjs_realloc, &reallocate, pointerTo(watchedReallocate))
	before := refusals.Load()
	return func() bool { return refusals.Load() > before }, nil
}

// replace replaces a function of the engine, and returns the original.
func replace(place *uintptr, own *atomic.Uintptr, by uintptr) {
	if *place != by {
		own.Store(*place)
		*place = by
	}
}

// pointerTo returns a function as the engine keeps them. f is a declared
// function, which never moves.
func pointerTo(f any) uintptr {
	return (*[2]uintptr)(unsafe.Pointer(&f))[1] //nolint:gosec // A function's place in its interface value.
}
