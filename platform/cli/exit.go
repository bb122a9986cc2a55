package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// Exit codes. They are stable: scripts decide by them.
const (
	ExitOK          = 0   // Done.
	ExitFailure     = 1   // It failed otherwise; also a run that failed, and a tool that answered no.
	ExitUsage       = 2   // The command line is wrong.
	ExitNotFound    = 3   // There is no such thing.
	ExitDenied      = 4   // The key may not do that, or is not valid.
	ExitConflict    = 5   // The state of the thing does not allow it.
	ExitUnavailable = 6   // Something is not answering, is too busy or took too long: try again.
	ExitInvalid     = 7   // A definition or an argument is wrong.
	ExitInterrupted = 130 // Interrupted from the keyboard.
)

const exitCodeHelp = `0 done, 1 failed, 2 wrong usage, 3 not found, 4 denied,
5 conflict, 6 not answering or too late, 7 invalid definition or argument,
130 interrupted.`

// UsageError says that a command line is wrong.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// usage refuses a command line.
func usage(format string, args ...any) error { return &UsageError{Err: fmt.Errorf(format, args...)} }

// silentError ends a command with a code when all was said already.
type silentError struct{ code int }

func (e *silentError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

func exitCode(ctx context.Context, err error) int {
	if e, ok := errors.AsType[*silentError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[*UsageError](err); ok {
		return ExitUsage
	}
	if _, ok := errors.AsType[*FileError](err); ok {
		return ExitInvalid
	}
	if ctx.Err() != nil {
		return ExitInterrupted
	}
	if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		return ExitUnavailable
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return kindCode(e.Kind)
	}
	return ExitFailure
}

// kindCode returns the exit code of a kind of failure.
func kindCode(kind tool.Kind) int {
	switch kind {
	case tool.Invalid:
		return ExitInvalid
	case tool.NotFound:
		return ExitNotFound
	case tool.Denied:
		return ExitDenied
	case tool.Conflict:
		return ExitConflict
	case tool.Unavailable, tool.Timeout, tool.RateLimited:
		return ExitUnavailable
	case tool.Unknown, tool.Cancelled, tool.InternalError:
		return ExitFailure
	default:
		return ExitFailure
	}
}

// report tells what went wrong: a sentence, or with --json a problem.
func (a *app) report(ctx context.Context, err error) {
	if _, ok := errors.AsType[*silentError](err); ok {
		return
	}
	if ctx.Err() != nil {
		err = &tool.Error{Kind: tool.Cancelled, Msg: "interrupted"}
	}
	if a.flags.json {
		_ = json.NewEncoder(a.env.Err).Encode(map[string]any{"error": asProblem(err)}) // Nobody is left to tell.
		return
	}
	_, _ = fmt.Fprintf(a.env.Err, "toolcrib: %s\n", cleanLines(explain(err)))
	if hint := a.hint(err); hint != "" {
		_, _ = fmt.Fprintf(a.env.Err, "%s\n", hint)
	}
}

func asProblem(err error) *v1.Problem {
	if p, ok := client.Problem(err); ok {
		return p
	}
	p := &v1.Problem{Title: "failed", Code: tool.InternalError, Detail: explain(err)}
	if _, ok := errors.AsType[*UsageError](err); ok {
		p.Title, p.Code = "wrong usage", tool.Invalid
	} else if _, ok := errors.AsType[*FileError](err); ok {
		p.Title, p.Code = "malformed file", tool.Invalid
	} else if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		p.Title, p.Code, p.Retryable = "unreachable", tool.Unavailable, true
	} else if e, ok := errors.AsType[*tool.Error](err); ok {
		p.Code, p.Path, p.Retryable = e.Kind, e.Path, e.Kind.Retryable()
	}
	return p
}

// explain returns what a person is told of err. A [*tool.Error] of ours may
// have a cause that helps, such as what a database said.
func explain(err error) string {
	if p, ok := client.Problem(err); ok {
		return p.Error()
	}
	if e, ok := errors.AsType[*client.UnreachableError](err); ok {
		return fmt.Sprintf("the server %s is not answering", e.Server)
	}
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Msg != "" {
		return e.Msg
	}
	return err.Error()
}

// hint returns what to do about err, if that is known.
func (a *app) hint(err error) string {
	if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		return "Start one with: toolcrib dev\nor say where it is with --server or TOOLCRIB_SERVER."
	}
	p, ok := client.Problem(err)
	switch {
	case !ok:
		return ""
	case p.Status == 401 && !a.hasKey():
		return "Say who you are with --key or TOOLCRIB_KEY; toolcrib dev keeps a key in its data folder (--data)."
	case p.Code == tool.InternalError && p.TraceID != "":
		return "The server's log has it under trace_id " + clean(p.TraceID) + "."
	}
	return ""
}
