package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// Exit codes. They are stable: scripts depend on them. exitMeanings describes
// each.
const (
	ExitOK          = 0   // Done.
	ExitFailure     = 1   // It failed otherwise; also a run that failed, and a tool that answered no.
	ExitUsage       = 2   // The command line is wrong.
	ExitNotFound    = 3   // There is no such thing.
	ExitDenied      = 4   // The key may not do that, or is not valid.
	ExitConflict    = 5   // The state of the thing does not allow it.
	ExitUnavailable = 6   // Something is not answering, is too busy or took too long: try again.
	ExitInvalid     = 7   // A definition or an argument is wrong.
	ExitRunning     = 8   // It was accepted, and has not ended: follow it.
	ExitInterrupted = 130 // Interrupted from the keyboard.
)

// exitMeaning is what an exit code means.
type exitMeaning struct {
	code    int
	meaning string
	kinds   []tool.Kind // Kinds of errors with this code.
}

// exitMeanings is the one table of exit codes.
var exitMeanings = []exitMeaning{
	{ExitOK, "done", nil},
	{
		ExitFailure, "it failed otherwise; also a run that failed, and a tool that answered no",
		[]tool.Kind{tool.Unknown, tool.Cancelled, tool.InternalError},
	},
	{ExitUsage, "the command line or a setting is wrong", nil},
	{ExitNotFound, "there is no such thing", []tool.Kind{tool.NotFound}},
	{ExitDenied, "the key may not do that, or is not valid", []tool.Kind{tool.Denied}},
	{ExitConflict, "the state of the thing does not allow it", []tool.Kind{tool.Conflict}},
	{
		ExitUnavailable, "something is not answering, is too busy or took too long: try again",
		[]tool.Kind{tool.Unavailable, tool.Timeout, tool.RateLimited},
	},
	{ExitInvalid, "a definition or an argument is wrong", []tool.Kind{tool.Invalid}},
	{ExitRunning, "it was accepted, and had not ended when the wait was over: follow it", nil},
	{ExitInterrupted, "interrupted from the keyboard", nil},
}

// exitCodeTable writes the table of exit codes.
func exitCodeTable() string {
	var b strings.Builder
	for _, m := range exitMeanings {
		fmt.Fprintf(&b, "  %3d  %s\n", m.code, m.meaning)
		if len(m.kinds) > 0 {
			names := make([]string, len(m.kinds))
			for i, kind := range m.kinds {
				names[i] = string(kind)
			}
			fmt.Fprintf(&b, "       (%s)\n", strings.Join(names, ", "))
		}
	}
	return b.String()
}

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes of commands mean",
		Long: `Exit codes are stable: scripts may decide by them. In brackets are the codes of
problems, as the API and --json give them, that end so.

` + strings.TrimSuffix(exitCodeTable(), "\n"),
	}
}

// UsageError is a wrong command line; the exit code is [ExitUsage].
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a [*UsageError].
func Usagef(format string, args ...any) error { return &UsageError{Err: fmt.Errorf(format, args...)} }

// ExitError ends a command with a code; nothing more is printed.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

func exitCode(ctx context.Context, err error) int {
	if e, ok := errors.AsType[*ExitError](err); ok {
		return e.Code
	}
	if _, ok := errors.AsType[*UsageError](err); ok {
		return ExitUsage
	}
	if _, ok := errors.AsType[*definition.FileError](err); ok {
		return ExitInvalid
	}
	if ctx.Err() != nil {
		return ExitInterrupted
	}
	if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		return ExitUnavailable
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return KindCode(e.Kind)
	}
	return ExitFailure
}

// KindCode returns the exit code of a kind of failure.
func KindCode(kind tool.Kind) int {
	for _, m := range exitMeanings {
		if slices.Contains(m.kinds, kind) {
			return m.code
		}
	}
	return ExitFailure
}
