package demo

import (
	"errors"
	"fmt"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// outcome is how one call of the transcript is to end.
type outcome struct {
	call     string // The id that the model gave it.
	tool     string // With its pinned version; without one when there is no such tool.
	status   tool.InvocationStatus
	no       bool      // The tool answered "no".
	kind     tool.Kind // Why it failed.
	attempts int
	changed  bool // The arguments were repaired or coerced, with a receipt.
}

// expected are the calls of examples/transcripts/support-desk.yaml, and within
// "clerk" those of carrier-clerk.yaml, in call order. One that is part of another
// is named by the id of that, a slash, and its own.
func expected() []outcome {
	const done, failed = tool.StatusCompleted, tool.StatusFailed
	return []outcome{
		{call: "customer", tool: "findCustomer@1.0.0", status: done, attempts: 1, changed: true},
		{call: "order", tool: "getOrder@1.0.0", status: done, attempts: 1},
		{call: "typo", tool: "getOrder@1.0.0", status: done, attempts: 1, no: true},
		{call: "orders", tool: "listOrders@1.0.0", status: done, attempts: 1},
		{call: "stock-blue", tool: "checkStock@1.0.0", status: done, attempts: 1},
		{call: "stock-green", tool: "checkStock@1.0.0", status: done, attempts: 1},
		{call: "stock-cup", tool: "checkStock@1.0.0", status: done, attempts: 1},
		{call: "refund-rule", tool: "checkRefund@1.0.0", status: done, attempts: 1},
		{call: "shipping", tool: "quoteShipping@1.0.0", status: done, attempts: 2},
		{call: "shipping-cups", tool: "quoteShipping@1.0.0", status: done, attempts: 2},
		{call: "warranty", tool: "searchHandbook@1.0.0", status: done, attempts: 1},
		{call: "loyalty", tool: "getLoyalty@1.0.0", status: done, attempts: 1},
		{call: "refund", tool: "refundOrder@1.1.0", status: done, attempts: 1},
		{call: "track", tool: "trackParcel", status: failed, kind: tool.NotFound},
		{call: "on-its-way", tool: "json_transform@1.0.2", status: done, attempts: 1},
		{call: "clerk", tool: "askCarrierClerk@1.0.0", status: done, attempts: 1},
		{call: "clerk/parcel", tool: "trackParcelAtCarrier@1.0.0", status: done, attempts: 1},
		{call: "clerk/due", tool: "datetime_utils@2.0.1", status: done, attempts: 1},
		{call: "rules", tool: "web_fetch@1.0.2", status: done, attempts: 1},
		{call: "replacement", tool: "quoteReplacement@1.0.0", status: done, attempts: 1, changed: true},
		{call: "cups", tool: "quoteBulkOrder@1.0.0", status: done, attempts: 1},
		{call: "again", tool: "quoteReorder@1.0.0", status: done, attempts: 1},
		{call: "again/order", tool: "getOrder@1.0.0", status: done, attempts: 1},
		{call: "again/stock", tool: "checkStock@1.0.0", status: done, attempts: 1},
		{call: "again/shipping", tool: "quoteShipping@1.0.0", status: done, attempts: 2},
		{call: "note", tool: "writeNote@1.0.0", status: done, attempts: 1},
		{call: "reply", tool: "displayReply@1.1.0", status: done, attempts: 1},
	}
}

// check returns an error for every difference between calls, in call order, and
// the expected outcomes.
func check(calls []v1.Invocation, want []outcome) error {
	var errs []error
	for i, w := range want {
		if i >= len(calls) {
			errs = append(errs, fmt.Errorf("call %s of %s was not made", w.call, w.tool))
			continue
		}
		if got := outcomeOf(calls[i], w); got != w {
			errs = append(errs, fmt.Errorf("call %s: expected %s, got %s", w.call, w, got))
		}
	}
	for i := len(want); i < len(calls); i++ {
		errs = append(errs, fmt.Errorf("call %s of %s was not expected", calls[i].CallID, pinned(calls[i])))
	}
	return errors.Join(errs...)
}

// outcomeOf reads how a call ended. A call that was refused has no attempts of
// its own to speak of.
func outcomeOf(inv v1.Invocation, want outcome) outcome {
	got := outcome{
		call: inv.CallID, tool: pinned(inv), status: inv.Status, kind: inv.ErrorKind, attempts: inv.Attempt,
		no:      inv.Status == tool.StatusCompleted && inv.IsError,
		changed: len(inv.Receipt) > 0,
	}
	if want.attempts == 0 {
		got.attempts = 0
	}
	return got
}

// pinned names the version that ran.
func pinned(inv v1.Invocation) string {
	if inv.Version == "" {
		return inv.Tool
	}
	return inv.Tool + "@" + inv.Version
}

// String says it in a few words.
func (o outcome) String() string {
	s := fmt.Sprintf("%s %s after %d attempts", o.tool, o.status, o.attempts)
	if o.no {
		s += `, answering "no"`
	}
	if o.kind != "" {
		s += ", " + string(o.kind)
	}
	if o.changed {
		s += ", arguments coerced"
	}
	return s
}
