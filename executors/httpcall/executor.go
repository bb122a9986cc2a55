package httpcall

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// maxPrograms bounds the cached configurations.
const maxPrograms = 4096

// Executor runs http tools. It is safe for concurrent use.
type Executor struct {
	gate    *egress.Gate
	secrets secret.Resolver
	tokens  *tokens

	mu       sync.RWMutex
	programs map[string]*program // By configuration.
}

// New returns an executor that sends through gate and opens credentials by
// secrets; nil for no credentials.
func New(gate *egress.Gate, secrets secret.Resolver) *Executor {
	return &Executor{gate: gate, secrets: secrets, tokens: newTokens(), programs: make(map[string]*program)}
}

// Execute implements [tool.Executor].
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	p, err := e.program(call.Version)
	if err != nil {
		return nil, err
	}
	if p, err = p.chosen(call.Arguments); err != nil {
		return nil, err
	}
	req, err := p.request(ctx, call)
	if err != nil {
		return nil, err
	}
	x, err := e.begin(ctx, p, call, req)
	if err != nil {
		return nil, err
	}
	if p.Pagination != nil {
		return x.page(ctx, req)
	}
	resp, err := x.send(ctx, req)
	if err != nil {
		return nil, err
	}
	return p.outcome(ctx, resp, time.Now())
}

// program returns the version's compiled configuration, from the cache.
func (e *Executor) program(v *tool.Version) (*program, error) {
	e.mu.RLock()
	p := e.programs[string(v.Snapshot.Config)]
	e.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	p, err := compile(v.Snapshot.Config)
	if err != nil {
		out := &tool.Error{Kind: tool.Invalid, Op: "httpcall.Execute", Msg: "the tool's configuration is malformed", Err: err}
		if f, ok := errors.AsType[*tool.Error](err); ok {
			out.Msg += " at implementation_config" + f.Path + ": " + f.Msg
		}
		return nil, out
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.programs) >= maxPrograms {
		clear(e.programs)
	}
	e.programs[string(v.Snapshot.Config)] = p
	return p, nil
}

// CheckConfig is the package's [CheckConfig], for registries that call a type's
// executor.
func (e *Executor) CheckConfig(raw json.RawMessage) error { return CheckConfig(raw) }
