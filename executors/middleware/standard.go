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

// Standard returns the platform's middleware, outermost first: what is
// outside sees what the inner ones made of an answer.
//
//   - [Recover], so that no panic passes, whatever code it came from;
//   - [Arguments], so that what is sent is what was checked;
//   - [Progress], which closes when the call ends;
//   - [Deadline];
//   - [SizeLimit];
//   - [Output], of what will be stored;
//   - [Redact], before anything else reads an answer.
func Standard(o Options) []tool.Middleware {
	chain := []tool.Middleware{Recover(o.Logger), Arguments(), Progress(), Deadline(), SizeLimit(o.MaxResultBytes)}
	if o.Validate != nil {
		chain = append(chain, Output(o.Validate))
	}
	return append(chain, Redact())
}
