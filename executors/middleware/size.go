package middleware

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
)

// DefaultMaxResultBytes is the limit of [SizeLimit] when none is given.
const DefaultMaxResultBytes = 1 << 20

// SizeLimit replaces results of more than limit bytes, [DefaultMaxResultBytes] when
// not positive, by an error result that asks the model to request less. The call
// completes, since the tool did run. Results are never cut.
func SizeLimit(limit int) tool.Middleware {
	if limit <= 0 {
		limit = DefaultMaxResultBytes
	}
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			res, err := next.Execute(ctx, call)
			if err != nil || res == nil {
				return res, err
			}
			if n := size(res); n > limit {
				return tool.ErrorResult(fmt.Sprintf(
					"the tool answered %d bytes, more than the limit of %d: ask for less, such as fewer items or fields", n, limit,
				)), nil
			}
			return res, nil
		})
	}
}

// size returns the size of a result in bytes. Structured content that is also a
// content block counts once.
func size(res *tool.Result) int {
	blocks, inJSON := len(res.Mismatch), 0
	for _, c := range res.Content {
		blocks += len(c.Text) + len(c.Data) + len(c.URI) + len(c.Name)
		inJSON += len(c.JSON)
	}
	for _, w := range res.Warnings {
		blocks += len(w)
	}
	return blocks + max(inJSON, len(res.Structured))
}
