package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// Every kind of failure is in the table of exit codes, once.
func TestEveryKindHasAnExitCode(t *testing.T) {
	t.Parallel()
	want := map[tool.Kind]int{
		tool.Invalid: ExitInvalid, tool.NotFound: ExitNotFound, tool.Denied: ExitDenied, tool.Conflict: ExitConflict,
		tool.RateLimited: ExitUnavailable, tool.Unavailable: ExitUnavailable, tool.Timeout: ExitUnavailable,
		tool.Unknown: ExitFailure, tool.Cancelled: ExitFailure, tool.InternalError: ExitFailure,
	}
	require.Len(t, want, len(tool.Kinds()))
	for _, kind := range tool.Kinds() {
		listed := 0
		for _, m := range exitMeanings {
			for _, k := range m.kinds {
				if k == kind {
					listed++
				}
			}
		}
		require.Equal(t, 1, listed, kind)
		for _, err := range []error{&tool.Error{Kind: kind}, fmt.Errorf("doing: %w", (&v1.Problem{Code: kind}).ToolError())} {
			require.Equal(t, want[kind], exitCode(t.Context(), err), kind)
		}
	}
}

func TestOtherFailuresHaveExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
	}{
		{Usagef("x"), ExitUsage},
		{&definition.FileError{Msg: "x"}, ExitInvalid},
		{&client.UnreachableError{}, ExitUnavailable},
		{&client.NotToolcribError{}, ExitFailure},
		{&ExitError{Code: 42}, 42},
		{errors.New("x"), ExitFailure},
		{&hintedError{error: &tool.Error{Kind: tool.NotFound}}, ExitNotFound},
	} {
		require.Equal(t, c.code, exitCode(t.Context(), fmt.Errorf("doing: %w", c.err)), "%T", c.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, ExitInterrupted, exitCode(ctx, errors.New("x")))
	codes := make(map[int]bool)
	for _, m := range exitMeanings {
		require.False(t, codes[m.code], m.code)
		codes[m.code] = true
		require.NotEmpty(t, m.meaning)
	}
}
