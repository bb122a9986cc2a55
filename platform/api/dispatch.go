package api

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/internal/uuid7"
)

// memoTrace is where a workflow keeps the trace id of the request that started it.
const memoTrace = "toolcrib_trace"

// memo returns what every workflow keeps of the request that started it.
func memo(ctx context.Context) map[string]string {
	return map[string]string{memoTrace: traceID(ctx)}
}

// newRunID returns the id of a run that is to be begun. A request with an
// idempotency key begins one run, however often it is served.
func newRunID(ctx context.Context) (string, error) {
	if id := requestID(ctx); id != "" {
		return id, nil
	}
	return uuid7.New()
}

// outcome reports whether err says that a workflow has ended, and returns the
// error that the workflow failed with. Any other error concerns the wait for it.
func outcome(err error) (ended bool, of error) {
	if _, ok := errors.AsType[*temporal.WorkflowExecutionError](err); ok {
		return true, failure.Decode(err)
	}
	return false, nil
}
