// Package failure carries [tool.Error] values across Temporal boundaries.
//
// It is the only package that imports both. Activities and workflows return the result of
// [Encode] or [EncodeFinal], and callers use [Decode], so that a kind survives any depth of
// wrapping.
package failure

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/tool"
)

// TypePrefix is the prefix of the Temporal type of encoded errors: "tool.<kind>".
const TypePrefix = "tool."

// details are the encoded fields of an error. The cause is left out: histories outlive
// secrets, and more people read them than logs.
type details struct {
	Kind    tool.Kind `json:"kind"`
	Op      string    `json:"op,omitempty"`
	Msg     string    `json:"msg"`
	Path    string    `json:"path,omitempty"`
	Sent    bool      `json:"sent,omitempty"`
	Answer  bool      `json:"answered,omitempty"`
	Acted   bool      `json:"acted,omitempty"`
	Settled bool      `json:"settled,omitempty"`
}

// Encode returns err in the form that an activity or workflow must return. It is retryable
// if [tool.Error.Retryable] is true; RetryAfter becomes the delay of the next attempt. A
// Temporal cancellation is unchanged. Log the cause first: it is not encoded.
func Encode(err error) error { return encode(err, false, false) }

// EncodeForHost is [Encode] for an error that a host's workflow receives and may
// return as it is: [errors.As] finds the [*tool.Error] in it, without its cause. A
// cancelled call is Temporal's cancellation.
func EncodeForHost(err error) error {
	if err == nil {
		return nil
	}
	plain := bounded(tool.AsError(Decode(err)))
	plain.Err = nil
	if plain.Kind == tool.Cancelled {
		return temporal.NewCanceledError()
	}
	opts := options(&plain, false, false)
	opts.Cause = &plain
	return temporal.NewApplicationErrorWithOptions(plain.Msg, TypePrefix+string(plain.Kind), opts)
}

// EncodeFinal is [Encode] for an error that must not be retried, whatever its
// kind.
func EncodeFinal(err error) error { return encode(err, true, false) }

// EncodeSettled is [EncodeFinal] for a call whose outcome is in the ledger already.
func EncodeSettled(err error) error { return encode(err, true, true) }

func encode(err error, final, settled bool) error {
	if err == nil {
		return nil
	}
	if temporal.IsCanceledError(err) {
		return temporal.NewCanceledError() // Without the wrapping, which is a cause.
	}
	te := tool.AsError(Decode(err))
	if !settled && errors.Is(err, context.Canceled) {
		// A context ended without a cancellation by Temporal, such as when the worker stops.
		te = &tool.Error{Kind: tool.Unavailable, Op: te.Op, Msg: "the work was interrupted", Sent: te.Sent, Acted: te.Acted}
	}
	short := bounded(te)
	return temporal.NewApplicationErrorWithOptions(
		short.Msg, TypePrefix+string(short.Kind), options(&short, final, settled),
	)
}

// maxPath bounds the place of an offending value in a history, in bytes.
const maxPath = 1 << 10

// bounded returns an error as histories hold it: Temporal replaces failures of more than 2 MB by
// one of its own, without a kind.
func bounded(e *tool.Error) tool.Error {
	short := *e
	short.Op, short.Path = tool.Clip(e.Op, maxPath), tool.Clip(e.Path, maxPath)
	short.Msg = tool.Clip(strings.ToValidUTF8(e.Msg, "\ufffd"), tool.MaxMessage)
	return short
}

// options returns what an encoded error carries beside its message and type.
func options(te *tool.Error, final, settled bool) temporal.ApplicationErrorOptions {
	opts := temporal.ApplicationErrorOptions{
		NonRetryable: final || !te.Retryable(),
		Details: []any{details{
			Kind: te.Kind, Op: te.Op, Msg: te.Msg, Path: te.Path, Sent: te.Sent, Answer: te.Answered, Acted: te.Acted,
			Settled: settled,
		}},
	}
	if !opts.NonRetryable {
		opts.NextRetryDelay = te.RetryAfter
	}
	if te.Kind != tool.InternalError {
		opts.Category = temporal.ApplicationErrorCategoryBenign // Expected, so no alert.
	}
	return opts
}

// Decode returns the [tool.Error] encoded in err's chain. A timeout of Temporal becomes
// tool.Timeout, and cancellation tool.Cancelled. Any other error is returned unchanged.
func Decode(err error) error {
	if err == nil {
		return nil
	}
	// A timeout may wrap the failure of an earlier attempt; none of our errors
	// wraps a timeout.
	if to, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return &tool.Error{
			Kind: tool.Timeout, Op: "temporal." + to.TimeoutType().String(),
			Msg: "the call did not answer in time", Sent: true, Err: err,
		}
	}
	if d, app, ok := read(err); ok {
		return &tool.Error{
			Kind: d.Kind, Op: d.Op, Msg: d.Msg, Path: d.Path, Sent: d.Sent, Answered: d.Answer, Acted: d.Acted,
			RetryAfter: app.NextRetryDelay(), Err: err,
		}
	}
	if _, ok := errors.AsType[*tool.Error](err); ok {
		return err
	}
	if temporal.IsCanceledError(err) {
		return &tool.Error{Kind: tool.Cancelled, Op: "temporal", Msg: "the call was cancelled", Err: err}
	}
	return err
}

// Settled reports whether err is of a call whose outcome is in the ledger.
func Settled(err error) bool {
	d, _, ok := read(err)
	return ok && d.Settled
}

func read(err error) (details, *temporal.ApplicationError, bool) {
	var d details
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	ok = ok && app.HasDetails() && app.Details(&d) == nil && app.Type() == TypePrefix+string(d.Kind)
	return d, app, ok
}

// MaxRetryDelay bounds the delay of a retry that the tool requested. A longer one ends the
// call, with the delay in its message.
const MaxRetryDelay = 5 * time.Minute
