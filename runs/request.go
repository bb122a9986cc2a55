package runs

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/tool"
)

// Request identifies the request of a caller.
type Request struct {
	// ID is a UUID that stays the same when the request is served again, for
	// example by another server after a crash. The run that the request starts has
	// this id, so that the second service finds the run instead of starting
	// another. Empty for a request without such an id.
	ID string
	// TraceID is the id of the request's trace. The workflow keeps it in its memo.
	TraceID string
}

// newRunID returns the id of the run that the request starts.
func (r Request) newRunID() (string, error) {
	if r.ID != "" {
		return r.ID, nil
	}
	return uuid7.New()
}

// findRunOfRequest returns the run that an earlier service of the request
// recorded, and nil if there is none.
func (s *Service) findRunOfRequest(ctx context.Context, tenant tool.TenantID, request Request) (*agent.Run, error) {
	if request.ID == "" {
		return nil, nil
	}
	return optional(s.cfg.Store.FindRun(ctx, tenant, request.ID))
}

// optional returns nil for a run that was not found.
func optional(run agent.Run, err error) (*agent.Run, error) {
	if tool.KindOf(err) == tool.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &run, nil
}
