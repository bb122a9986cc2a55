package runs

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/singleflight"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	// availableFor is for how long a finding is good.
	availableFor = time.Second
	// probeTimeout bounds looking. It leaves time to answer within [StartTimeout].
	probeTimeout = 2 * time.Second
	// comeBack is the Retry-After while Temporal is away: by then it is looked
	// at anew, and clients do not come back all at once with the next probe.
	comeBack = 5 * time.Second
)

// probeWorkflowID names a workflow that does not exist. To say so, Temporal has
// to read its persistence.
const probeWorkflowID = "toolcrib-availability-probe"

// probe returns a look at Temporal: not only whether a frontend accepts
// connections, but whether it can read what it keeps.
func probe(c client.Client) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.DescribeWorkflowExecution(ctx, probeWorkflowID, "")
		if is[*serviceerror.NotFound](err) {
			return nil
		}
		return err //nolint:wrapcheck // The caller classifies it.
	}
}

// availability remembers whether Temporal does its work, from the requests that
// are made of it anyway, and looks when it does not know. Callers at the same
// time share one look.
type availability struct {
	look func(context.Context) error
	one  singleflight.Group

	mu    sync.Mutex
	known time.Time // Until then err is good.
	err   error
}

func newAvailability(look func(context.Context) error) *availability {
	return &availability{look: look}
}

// report takes what a request came to as a finding. A failure that says nothing
// of Temporal itself is not reported. After a failure the next caller looks: one
// lost answer is no outage.
func (a *availability) report(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err, a.known = nil, time.Time{}
	if err == nil {
		a.known = time.Now().Add(availableFor)
	}
}

func (a *availability) check(ctx context.Context) error {
	a.mu.Lock()
	err, known := a.err, time.Now().Before(a.known)
	a.mu.Unlock()
	if known {
		return err
	}
	found := a.one.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTimeout)
		defer cancel()
		err := a.look(ctx)
		if err != nil {
			err = temporalError("looking at Temporal", err)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.err, a.known = err, time.Now().Add(availableFor)
		return nil, err
	})
	select {
	case <-ctx.Done():
		return temporalError("looking at Temporal", ctx.Err())
	case r := <-found:
		return r.Err
	}
}

// temporalError classifies a failure of the Temporal client.
func temporalError(doing string, err error) error {
	e := &tool.Error{
		Kind: tool.Unavailable, Op: "runs", Msg: "Temporal is not answering", RetryAfter: comeBack,
		Err: errors.Join(errors.New(doing), err),
	}
	switch {
	case is[*serviceerror.NamespaceNotFound](err):
		e.Msg = "Temporal does not know the namespace"
	case is[*serviceerror.PermissionDenied](err):
		e.Msg = "Temporal refuses the server's credentials"
	case is[*serviceerror.ResourceExhausted](err):
		e.Msg = "Temporal is overloaded"
	case is[*serviceerror.InvalidArgument](err):
		e.Kind, e.RetryAfter, e.Msg = tool.Invalid, 0, "Temporal refuses the workflow as invalid: "+err.Error()
	case errors.Is(err, context.Canceled):
		e.Kind, e.RetryAfter, e.Msg = tool.Cancelled, 0, "cancelled"
	}
	return e
}

// permanent reports whether Temporal refused a request in a way that no other
// attempt changes.
func permanent(err error) bool {
	return is[*serviceerror.InvalidArgument](err) || is[*serviceerror.NamespaceNotFound](err) ||
		is[*serviceerror.PermissionDenied](err)
}

// absent reports whether a failure says that there is no such execution. A
// namespace that is gone has none.
func absent(err error) bool {
	return is[*serviceerror.NotFound](err) || is[*serviceerror.NamespaceNotFound](err)
}

func alreadyStarted(err error) bool { return is[*serviceerror.WorkflowExecutionAlreadyStarted](err) }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
