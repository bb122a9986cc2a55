package custom_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/tool"
)

// keyring remembers the idempotency keys that arrived.
type keyring struct {
	mu   sync.Mutex
	keys []string
}

func (k *keyring) add(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = append(k.keys, key)
}

func (k *keyring) all() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.keys)
}

// behaving is a host's executor that behaves so.
func behaving(b executortest.Behaviour, keys *keyring) tool.Executor {
	return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
		if ctx.Err() != nil {
			return nil, &tool.Error{Kind: tool.Timeout, Msg: "the call was over", Err: ctx.Err()}
		}
		keys.add(call.EffectID)
		switch b {
		case executortest.SaysNo:
			return tool.ErrorResult(executortest.Reason), nil
		case executortest.Refuses:
			return nil, &tool.Error{Kind: tool.Denied, Msg: "the database refused the role", Sent: true}
		case executortest.Saturated:
			return nil, &tool.Error{
				Kind: tool.RateLimited, Msg: "no connection is free", Sent: true, RetryAfter: executortest.RetryAfter,
			}
		case executortest.Fails, executortest.BreaksOff:
			return nil, &tool.Error{Kind: tool.Unavailable, Msg: "the database went away", Sent: true}
		case executortest.Unreachable:
			return nil, &tool.Error{Kind: tool.Unavailable, Msg: "the database is not there"}
		case executortest.Hangs:
			<-ctx.Done()
			return nil, &tool.Error{Kind: tool.Timeout, Msg: "the database did not answer", Sent: true, Err: ctx.Err()}
		case executortest.Overflows:
			return tool.JSONResult(json.RawMessage(`"` + strings.Repeat("x", 2*executortest.MaxBytes) + `"`)), nil
		case executortest.Panics:
			panic("a mistake of the host's")
		case executortest.Answers, executortest.QuotesSecret, executortest.NoSecret:
		}
		return tool.JSONResult(bytes.Clone(call.Arguments)), nil
	})
}
