package httpcall

import (
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// SetClock makes tokens end by another clock than the system's.
func (e *Executor) SetClock(now func() time.Time) { e.tokens.now = now }

// KeptTokens returns how many tokens have a place.
func (e *Executor) KeptTokens() int {
	e.tokens.mu.Lock()
	defer e.tokens.mu.Unlock()
	return len(e.tokens.kept)
}

// MaxTokens returns how many tokens have a place at the most.
func (e *Executor) MaxTokens() int { return maxTokens }

// FillTokens takes every place with a token that has not ended.
func (e *Executor) FillTokens() {
	for n := e.KeptTokens(); n < maxTokens; n++ {
		g := &grant{auth: &Auth{Audience: strconv.Itoa(n)}}
		e.tokens.entry(g.key()).keep(answeredToken{"t", maxTokenAge}, e.tokens.now())
	}
}

// OnWait calls fn once n calls wait for the token that another asks for.
func (e *Executor) OnWait(n int64, fn func()) {
	var waiting atomic.Int64
	e.tokens.waits = func() {
		if waiting.Add(1) == n {
			fn()
		}
	}
}

// Decode reads a configuration.
var Decode = decode

// Target returns the URL that a configuration and arguments lead to.
func Target(ctx context.Context, config, args json.RawMessage) (string, error) {
	p, err := compile(config)
	if err != nil {
		return "", err
	}
	req, err := p.request(ctx, &tool.Call{Version: &tool.Version{}, Arguments: args})
	if err != nil {
		return "", err
	}
	return req.URL, nil
}

// Body returns the body that a configuration and arguments make, and its
// content type.
func Body(ctx context.Context, config, args json.RawMessage) ([]byte, string, error) {
	p, err := compile(config)
	if err != nil {
		return nil, "", err
	}
	req, err := p.request(ctx, &tool.Call{Version: &tool.Version{}, Arguments: args})
	if err != nil {
		return nil, "", err
	}
	return req.Body, req.Header.Get("Content-Type"), nil
}
