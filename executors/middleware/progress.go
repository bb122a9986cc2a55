package middleware

import (
	"context"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/tool"
)

// MaxProgressMessage is the length in bytes that a progress message is cut to.
const MaxProgressMessage = 1 << 10

// Progress forwards the progress reports and the output of a running call to its
// caller, one at a time, with messages cut to [MaxProgressMessage] and output
// bounded to [MaxOutput]. Reports of abandoned goroutines after the end of the call
// are dropped.
func Progress() tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var mu sync.Mutex
			over := false
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				over = true
			}()
			inner := ctx
			if tool.Watched(ctx) {
				out := bounded{next: func(text string) { tool.AppendOutput(ctx, text) }, left: MaxOutput}
				inner = tool.WithOutput(ctx, func(text string) {
					mu.Lock()
					defer mu.Unlock()
					if !over {
						out.say(text)
					}
				})
			}
			return next.Execute(tool.WithProgress(inner, func(p tool.Progress) {
				mu.Lock()
				defer mu.Unlock()
				if over {
					return
				}
				if len(p.Message) > MaxProgressMessage {
					p.Message = strings.ToValidUTF8(p.Message[:MaxProgressMessage], "")
				}
				tool.ReportProgress(ctx, p)
			}), call)
		})
	}
}
