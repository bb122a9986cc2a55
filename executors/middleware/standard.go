package middleware

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/toolcrib/toolcrib/tool"
)

// Options configures [Standard].
type Options struct {
	Logger         *slog.Logger                                                   // Required.
	MaxResultBytes int                                                            // Defaults to [DefaultMaxResultBytes].
	Validate       func(ctx context.Context, schema, value json.RawMessage) error // See [Output]; nil checks nothing.
}

// Standard returns the platform's middleware, outermost first:
//
//   - [Recover], so that no panic escapes;
//   - [Arguments], so that the checked arguments are those sent;
//   - [Progress], which closes when the call ends;
//   - [Deadline];
//   - [SizeLimit];
//   - [Output], on what will be stored;
//   - [Redact], before anything else reads a result.
func Standard(o Options) []tool.Middleware {
	chain := []tool.Middleware{Recover(o.Logger), Arguments(), Progress(), Deadline(), SizeLimit(o.MaxResultBytes)}
	if o.Validate != nil {
		chain = append(chain, Output(o.Validate))
	}
	return append(chain, Redact())
}
