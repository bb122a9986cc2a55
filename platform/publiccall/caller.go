// Package publiccall has what pages without a login call tools with: it finds the tool, prepares what people filled
// in, and makes the call.
package publiccall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Tools finds tools. [resolver.Resolver] implements it.
type Tools interface {
	Resolve(ctx context.Context, req resolver.Request) (*resolver.Resolved, error)
	Version(ctx context.Context, tenant tool.TenantID, toolID, digest string) (*tool.Version, error)
}

// Runs makes calls. [runs.Service] implements it.
type Runs interface {
	Call(ctx context.Context, n runs.NewCall) (runs.Call, error)
	Wait(ctx context.Context, c runs.Call, timeout time.Duration, wakes runs.Wakes) (*tool.Result, bool, error)
}

// Config holds the dependencies of a [Caller]. Tools and Runs are required.
type Config struct {
	Tools Tools
	Runs  Runs
	Wakes runs.Wakes // Says that a call has ended. Without it, the record is asked now and then.
	// Now returns the current time. Defaults to [time.Now].
	Now    func() time.Time
	Logger *slog.Logger // Defaults to discarding.
}

// Caller calls tools for pages. It is safe for concurrent use.
type Caller struct {
	Config
	schemas *schema.Cache
}

// compiled is how many schemas are kept.
const compiled = 256

// New returns a caller.
func New(cfg Config) (*Caller, error) {
	if cfg.Tools == nil || cfg.Runs == nil {
		return nil, errors.New("publiccall: Config.Tools and Runs are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Caller{cfg, schema.New(compiled)}, nil
}

// Resolve returns the version of a tool that a principal may call from outside. It fails as the resolver does.
func (c *Caller) Resolve(ctx context.Context, p tool.Principal, ref tool.Ref) (*resolver.Resolved, error) {
	return c.Tools.Resolve(ctx, resolver.Request{Principal: p, Ref: ref, Mode: tool.Production, Outside: true})
}

// Await waits for the end of a call for as long. How it ended is in the record.
func (c *Caller) Await(ctx context.Context, call runs.Call, wait time.Duration) {
	_, _, _ = c.Runs.Wait(ctx, call, wait, c.Wakes)
}

// Prepare returns what a tool with an input schema is called with. It fails with tool.Invalid, and the path of the
// input, for what does not fit.
func (c *Caller) Prepare(ctx context.Context, inputSchema, input json.RawMessage) (json.RawMessage, error) {
	if len(inputSchema) == 0 {
		return input, nil
	}
	takes, err := c.schemas.Compile(inputSchema)
	if err != nil {
		return nil, fmt.Errorf("compiling an input schema: %w", err)
	}
	prepared, _, err := takes.Prepare(ctx, input)
	if err != nil {
		e := *tool.AsError(err)
		e.Path = "/input" + e.Path
		return nil, &e
	}
	return prepared, nil
}
