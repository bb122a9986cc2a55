package demo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// ofModels are the kinds of errors that a model can cause: malformed arguments,
// an unknown tool, or a tool that it may not use. Any other kind is a failure
// of the platform or the company's API.
var ofModels = []tool.Kind{tool.Invalid, tool.NotFound, tool.Denied, tool.Conflict}

// judgeLive requires what holds for any behaviour of a live model: every call
// ended in a valid state, none ran without the approval that it needs, and the company's
// API received exactly the calls in the ledger.
func (d *demo) judgeLive() error {
	var errs []error
	switch {
	case d.run.Status == agent.RunCompleted:
	case strings.HasPrefix(d.run.Error, "the run reached its limit"):
		d.say("\n  The model did not come to an end within the agent's limits: %s", d.run.Error)
	default:
		errs = append(errs, d.ended())
	}
	var quotes, noted int
	for _, inv := range d.calls {
		if err := soundEnd(inv); err != nil {
			errs = append(errs, fmt.Errorf("call %s: %w", inv.CallID, err))
		}
		if ran := inv.Status == tool.StatusCompleted; ran && inv.Tool == "quoteShipping" {
			quotes += inv.Attempt
		} else if ran && inv.Tool == "writeNote" && !inv.IsError {
			noted++
		}
	}
	if n := d.company.service.Requests()["GET /shipping/quotes"]; n != quotes {
		errs = append(errs, fmt.Errorf("the carrier was asked %d times; the ledger has %d attempts", n, quotes))
	}
	if n := d.notes(); n != noted {
		errs = append(errs, fmt.Errorf("%d notes were written; the ledger has %d calls that wrote one", n, noted))
	}
	if len(d.calls) == 0 {
		d.say("\n  The model called no tool at all: that is its right, and not much of a show.")
	}
	return errors.Join(errs...)
}

// soundEnd returns what is wrong about how a call ended.
func soundEnd(inv v1.Invocation) error {
	switch inv.Status {
	case tool.StatusCompleted:
		if inv.Version == "" || inv.Tool == "refundOrder" && inv.ApprovalStatus != tool.ApprovalApproved {
			return fmt.Errorf("%s was run", pinned(inv))
		}
		return nil
	case tool.StatusFailed:
		if !slices.Contains(ofModels, inv.ErrorKind) {
			return fmt.Errorf("%s failed: %s: %s", pinned(inv), inv.ErrorKind, inv.Error)
		}
		return nil
	case tool.StatusRejected, tool.StatusExpired: // It was not approved.
		return nil
	case tool.StatusPending, tool.StatusApproved, tool.StatusRunning, tool.StatusWaiting, tool.StatusCancelled,
		tool.StatusUnknown:
		return fmt.Errorf("%s is %s", pinned(inv), inv.Status)
	default:
		return fmt.Errorf("%s is %s", pinned(inv), inv.Status)
	}
}
