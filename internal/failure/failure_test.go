package failure_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
)

// Every kind comes back as it went in, under the type "tool.<kind>", and only
// defects of ours are not benign.
func TestKindsSurvive(t *testing.T) {
	t.Parallel()

	for _, kind := range tool.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()

			in := &tool.Error{Kind: kind, Op: "x.Y", Msg: "m", Path: "/a", Sent: true, RetryAfter: time.Second}
			err := failure.Encode(fmt.Errorf("doing x: %w", in))
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.Equal(t, failure.TypePrefix+string(kind), app.Type())
			require.Equal(t, kind.Retryable(), !app.NonRetryable())
			require.Equal(t, kind == tool.InternalError, app.Category() != temporal.ApplicationErrorCategoryBenign)

			out := tool.AsError(failure.Decode(fmt.Errorf("activity failed: %w", err)))
			require.Equal(t, []any{kind, "x.Y", "m", "/a", true}, []any{out.Kind, out.Op, out.Msg, out.Path, out.Sent})
			if kind.Retryable() {
				require.Equal(t, time.Second, out.RetryAfter)
			}
			// A second boundary changes nothing.
			again := tool.AsError(failure.Decode(failure.Encode(err)))
			require.Equal(t, kind, again.Kind)
		})
	}
}

func TestCausesStayBehind(t *testing.T) {
	t.Parallel()

	for _, in := range []error{
		errors.New("password is hunter2"),
		&tool.Error{Kind: tool.Unavailable, Msg: "down", Err: errors.New("password is hunter2")},
	} {
		err := failure.Encode(in)
		require.NotContains(t, err.Error(), "hunter2")
		require.NoError(t, errors.Unwrap(err))
	}
}

// A failure's texts are bounded: Temporal replaces a failure of more than 2 MB by one without a
// kind.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("é", 2<<20)
	in := &tool.Error{Kind: tool.Denied, Op: long, Msg: long, Path: "/" + long}
	for name, err := range map[string]error{
		"activity": failure.Encode(in), "final": failure.EncodeFinal(in), "settled": failure.EncodeSettled(in),
		"host": failure.EncodeForHost(in),
	} {
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app, name)
		require.LessOrEqual(t, len(app.Message()), tool.MaxMessage+len("…"), name)
		out := tool.AsError(failure.Decode(err))
		require.Equal(t, tool.Denied, out.Kind, name)
		require.Less(t, len(out.Op)+len(out.Path)+len(out.Msg), 2*tool.MaxMessage, name)
		require.True(t, utf8.ValidString(app.Message()), name)
	}
	require.Len(t, in.Msg, len(long), "the error itself is unchanged")
}

func TestCancellationPassesThrough(t *testing.T) {
	t.Parallel()

	canceled := temporal.NewCanceledError()
	err := failure.Encode(fmt.Errorf("asking hunter2: %w", canceled))
	require.True(t, temporal.IsCanceledError(err))
	require.NotContains(t, err.Error(), "hunter2")
	require.Equal(t, tool.Cancelled, tool.KindOf(failure.Decode(canceled)))
}

// A context that ended because a worker stops cancels nothing: the work is
// tried again, and what it was about stays out of the history.
func TestInterruptionIsRetried(t *testing.T) {
	t.Parallel()

	err := failure.Encode(fmt.Errorf("get https://x/?token=hunter2: %w", context.Canceled))
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.False(t, app.NonRetryable())
	require.Equal(t, tool.Unavailable, tool.KindOf(failure.Decode(err)))
	require.NotContains(t, err.Error(), "hunter2")
}

// A settled cancellation is a settled end like any other.
func TestSettled(t *testing.T) {
	t.Parallel()

	err := failure.EncodeSettled(&tool.Error{Kind: tool.Cancelled, Msg: "stopped", Err: context.Canceled})
	require.True(t, failure.Settled(fmt.Errorf("activity: %w", err)))
	require.False(t, failure.Settled(failure.EncodeFinal(&tool.Error{Kind: tool.Denied, Msg: "no"})))
	require.False(t, failure.Settled(nil))
}

// The failure of an earlier attempt, which a timeout wraps, says nothing of
// the attempt that timed out.
func TestTimeoutHidesTheAttemptBefore(t *testing.T) {
	t.Parallel()

	before := failure.Encode(&tool.Error{Kind: tool.Unavailable, Msg: "refused"})
	err := temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, before)
	out := tool.AsError(failure.Decode(err))
	require.Equal(t, tool.Timeout, out.Kind)
	require.True(t, out.Sent)
}
