package tool

import "context"

// OutputFunc receives the output of a running call before its result is
// complete. It must not block.
type OutputFunc func(text string)

type outputKey struct{}

// WithOutput returns a context whose calls report their output to fn.
func WithOutput(ctx context.Context, fn OutputFunc) context.Context {
	return context.WithValue(ctx, outputKey{}, fn)
}

// Watched reports whether the output of ctx's call is observed, that is,
// whether ctx has an [OutputFunc].
func Watched(ctx context.Context) bool {
	_, ok := ctx.Value(outputKey{}).(OutputFunc)
	return ok
}

// AppendOutput reports a piece of output to the observer of the call of ctx. It
// does nothing where the call is not observed. Pieces are for live display and
// may be lost; the result must be complete without them. Observers see them as
// [EventOutputAppended].
func AppendOutput(ctx context.Context, text string) {
	if fn, ok := ctx.Value(outputKey{}).(OutputFunc); ok && text != "" {
		fn(text)
	}
}
