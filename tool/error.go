package tool

import (
	"errors"
	"fmt"
	"time"
)

// Kind classifies why a call got no answer. Kinds are stored in ledgers and
// workflow histories: never rename or reuse one.
type Kind string

// Kinds of failure.
const (
	Invalid       Kind = "invalid"      // The arguments or the definition are malformed.
	NotFound      Kind = "not_found"    // No such tool, version or run, or none the caller may know of.
	Denied        Kind = "denied"       // Policy, permission, egress, budget or a person said no.
	Conflict      Kind = "conflict"     // The current state does not allow it.
	RateLimited   Kind = "rate_limited" // Retry later; see RetryAfter.
	Unavailable   Kind = "unavailable"  // Upstream or the network is not answering.
	Timeout       Kind = "timeout"      // Time ran out.
	Unknown       Kind = "unknown"      // The effect may have happened; the outcome is unknown.
	Cancelled     Kind = "cancelled"    // The call was cancelled.
	InternalError Kind = "internal"     // A defect of the platform.
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{
		Invalid, NotFound, Denied, Conflict, RateLimited, Unavailable, Timeout, Unknown, Cancelled, InternalError,
	}
}

// Retryable reports whether a retry of the same call may succeed. Whether a
// retry is allowed depends on the tool: see [Error.MayRetry] and
// [Error.Retryable].
func (k Kind) Retryable() bool {
	switch k {
	case RateLimited, Unavailable, Timeout, InternalError:
		return true
	case Invalid, NotFound, Denied, Conflict, Unknown, Cancelled:
		return false
	default:
		return false
	}
}

// MaxMessage bounds the message of a failure in records and histories, in bytes. A longer one is
// cut.
const MaxMessage = 4 << 10

// Error is the platform's failure to get an answer, as opposed to a [Result]
// that says "no".
type Error struct {
	Kind       Kind
	Op         string        // Where it happened, as "package.Func".
	Msg        string        // Safe to show to the caller and the model.
	Path       string        // JSON Pointer of the offending value, where there is one.
	RetryAfter time.Duration // Earliest useful retry; zero for no hint.
	Sent       bool          // Whether a request may have left the platform. True where the executor does not know.
	Answered   bool          // Whether upstream reported the failure itself, so that the outcome is known.
	Acted      bool          // Whether the call may have had an effect that must not be repeated: do not retry.
	Err        error         // Cause. Logged, never shown.
}

// Error implements the error interface.
func (e *Error) Error() string {
	s := string(e.Kind) + ": " + e.Msg
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		s = fmt.Sprintf("%s: %v", s, e.Err)
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// MayRetry reports whether a call of a tool with the given execution may be
// tried again after e. A request that never left is always safe to repeat; one
// that may have left, only for a pure or idempotent tool.
func (e *Error) MayRetry(x Execution) bool {
	return e.Kind.Retryable() && (!e.Sent || x.Repeatable())
}

// Retryable reports whether a caller may make the same call again and it may
// then succeed. It is false for a call that may have had an effect and is of a
// tool that is neither pure nor idempotent, whatever its kind.
func (e *Error) Retryable() bool { return e.Kind.Retryable() && !e.Acted }

// OutcomeUnknown reports whether the outcome is unknown after e: the request may have
// left, no answer came, and a retry is not allowed. Such a call ends as
// [Unknown].
func (e *Error) OutcomeUnknown(x Execution) bool {
	switch e.Kind {
	case Timeout, Unavailable, InternalError:
		return e.Sent && !e.Answered && !x.Repeatable()
	case Invalid, NotFound, Denied, Conflict, RateLimited, Unknown, Cancelled:
		return false
	default:
		return false
	}
}

// KindOf returns the kind of the outermost [Error] in err's chain, or
// [InternalError] when there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return InternalError
}

// AsError returns the outermost [Error] in err's chain. Any other error becomes the cause of an
// internal one, so that its text is not shown.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Kind: InternalError, Msg: "internal error", Err: err}
}
