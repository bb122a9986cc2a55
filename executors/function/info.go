package function

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// Info describes the call that a function serves.
type Info struct {
	Tool      string // As "slug@version".
	CallID    string
	EffectID  string // The same for all attempts: an idempotency key.
	RunID     string // Empty outside runs.
	Principal tool.Principal
	Mode      tool.Mode
	Attempt   int // Counted from 1.
}

type infoKey struct{}

// InfoFrom returns the call that a function serves; ok is false when it was
// called directly, as in its own tests.
func InfoFrom(ctx context.Context) (info Info, ok bool) {
	info, ok = ctx.Value(infoKey{}).(Info)
	return info, ok
}

// WithInfo returns a context with an Info, for calling a function directly.
func WithInfo(ctx context.Context, info Info) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}

func infoOf(call *tool.Call) Info {
	p := call.Principal
	p.Permissions, p.Scopes = append([]string(nil), p.Permissions...), append([]string(nil), p.Scopes...)
	return Info{
		Tool: call.Version.String(), CallID: call.CallID, EffectID: call.EffectID, RunID: call.RunID,
		Principal: p, Mode: call.Mode, Attempt: call.Attempt,
	}
}
