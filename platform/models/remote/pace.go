package remote

import (
	"errors"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/pace"
	"github.com/toolcrib/toolcrib/tool"
)

// bytesPerToken is about how much of a request is a token of its input.
const bytesPerToken = 4

// enter waits until the request may be sent, within the time of the exchange. A
// limit that lasts longer is [tool.RateLimited], with how long it lasts.
func (x *Exchange) enter(req *http.Request) error {
	x.turn.Tokens = int(max(req.ContentLength, 0) / bytesPerToken)
	permit, err := x.pacer.Enter(req.Context(), x.turn)
	if limited, ok := errors.AsType[*pace.LimitedError](err); ok {
		e := x.fail(tool.RateLimited, "nothing was sent: "+limited.Error()+
			", by what it said before, or by the limits of the worker's configuration", nil)
		e.RetryAfter = limited.Wait
		return e
	}
	if err != nil {
		return err //nolint:wrapcheck // The context's own.
	}
	x.permit = permit
	return nil
}

// Answered reports what the answer used to those who share the provider's rate
// limits.
func (x *Exchange) Answered(u agent.Usage) {
	if x.permit != nil {
		x.permit.Answered(u.InputTokens + u.OutputTokens)
	}
}

// Waited returns how long the request waited for the provider's rate limits.
func (x *Exchange) Waited() time.Duration {
	if x.permit == nil {
		return 0
	}
	return x.permit.Waited
}
