package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

var (
	pure = tool.Execution{Pure: true}
	once = tool.Execution{}
)

// An executor's error that does not say whether something was sent may have
// sent it: anything else would let a call be repeated that must not be.
func TestClassifyAssumesTheWorst(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		err  error
		kind tool.Kind
		sent bool
	}{
		{"Plain", errors.New("boom"), tool.InternalError, true},
		{"Deadline", fmt.Errorf("waiting: %w", context.DeadlineExceeded), tool.Timeout, true},
		{"Cancelled", fmt.Errorf("waiting: %w", context.Canceled), tool.Cancelled, true},
		{"Typed", fmt.Errorf("calling: %w", &tool.Error{Kind: tool.Unavailable}), tool.Unavailable, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			e := tool.AsError(classify(tt.err))
			require.Equal(t, tt.kind, e.Kind)
			require.Equal(t, tt.sent, e.Sent)
		})
	}
	require.NoError(t, classify(nil))
}

func TestEnding(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		err    tool.Error
		x      tool.Execution
		status tool.InvocationStatus
		msg    string
	}{
		{"Vanished", tool.Error{Kind: tool.Timeout, Sent: true}, once, tool.StatusUnknown, ledger.UnknownMessage},
		{"PureVanished", tool.Error{Kind: tool.Timeout, Msg: "late", Sent: true}, pure, tool.StatusFailed, "late"},
		{
			"Answered5xx",
			tool.Error{Kind: tool.Unavailable, Msg: "500", Sent: true, Answered: true},
			once, tool.StatusFailed,
			"500; the request may have taken effect",
		},
		{"NotSent", tool.Error{Kind: tool.Unavailable, Msg: "refused"}, once, tool.StatusFailed, "refused"},
		{
			"Cancelled",
			tool.Error{Kind: tool.Cancelled, Msg: "stopped", Sent: true},
			once, tool.StatusCancelled,
			"stopped; the request may have taken effect",
		},
		{
			"PureCancelled",
			tool.Error{Kind: tool.Cancelled, Msg: "stopped", Sent: true},
			pure, tool.StatusCancelled,
			"stopped",
		},
		{
			"Unauthorized",
			tool.Error{Kind: tool.Denied, Msg: "401", Sent: true, Answered: true},
			once, tool.StatusFailed,
			"401",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := ending(&tt.err, tt.x)
			require.Equal(t, tt.status, s.Status)
			require.Equal(t, tt.msg, s.Msg)
		})
	}
}

// Histories carry small descriptors, however large the arguments.
func TestDescribeKeepsHistoriesSmall(t *testing.T) {
	t.Parallel()

	small := describe(agent.PreparedCall{Slug: "a", Name: "a", Arguments: []byte(`{"q":1}`)}, maxInlineArguments)
	require.JSONEq(t, `{"q":1}`, string(small.Arguments))
	require.Empty(t, small.Name)
	require.False(t, small.Stored)

	large := describe(
		agent.PreparedCall{Slug: "a", Arguments: []byte(`"` + strings.Repeat("x", maxInlineArguments) + `"`)},
		maxInlineArguments,
	)
	require.Empty(t, large.Arguments)
	require.True(t, large.Stored)

	refused := describe(
		agent.PreparedCall{Name: "nope", Arguments: []byte(`{}`), Refused: &agent.Refusal{Kind: tool.NotFound}},
		maxInlineArguments,
	)
	require.Equal(t, "nope", refused.Name)
	require.True(t, refused.Settled)
	require.False(t, refused.Stored)
}

func TestPreviewCutsBetweenCharacters(t *testing.T) {
	t.Parallel()

	p := preview([]tool.Content{tool.Text(strings.Repeat("ö", wire.MaxPreview))})
	require.LessOrEqual(t, len(p), wire.MaxPreview)
	require.True(t, utf8.ValidString(p))
	require.True(t, strings.HasSuffix(p, "…"))
	require.Equal(t, "a\n{}\n[image image/png]", preview([]tool.Content{
		tool.Text("a"), tool.JSON([]byte("{}")), {Type: tool.ContentImage, MIMEType: "image/png"},
	}))
}

func TestNewWantsEverything(t *testing.T) {
	t.Parallel()

	_, err := New(Config{})
	require.ErrorContains(t, err, "is required")
}
