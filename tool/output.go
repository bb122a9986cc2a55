package tool

import "context"

// OutputFunc receives what a running call says before its result is whole.
// It must not block.
type OutputFunc func(text string)

type outputKey struct{}

// WithOutput returns a context whose calls say their output to fn.
func WithOutput(ctx context.Context, fn OutputFunc) context.Context {
	return context.WithValue(ctx, outputKey{}, fn)
}

// Watched reports whether anybody is told of the output of ctx's call.
func Watched(ctx context.Context) bool {
	_, ok := ctx.Value(outputKey{}).(OutputFunc)
	return ok
}

// AppendOutput tells whoever watches the call of ctx of a piece of its output;
// nobody may. Pieces are for watching and may be lost: what counts is the
// result, which must stand without them. Observers see them as
// [EventOutputAppended].
func AppendOutput(ctx context.Context, text string) {
	if fn, ok := ctx.Value(outputKey{}).(OutputFunc); ok && text != "" {
		fn(text)
	}
}
