package tool_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

func TestBucketDerivation(t *testing.T) {
	t.Parallel()

	config := func(s string) tool.Definition { return tool.Definition{Config: []byte(s)} }
	tests := []struct {
		name string
		tool tool.Tool
		want tool.Bucket
	}{
		{"System", tool.Tool{System: true, Definition: tool.Definition{Implementation: tool.MCP}}, tool.BucketBuiltIn},
		{"BuiltinKey", tool.Tool{BuiltinKey: "web_fetch"}, tool.BucketBuiltIn},
		{"MCP", tool.Tool{Definition: tool.Definition{Implementation: tool.MCP}}, tool.BucketMCP},
		{"MCPByConfig", tool.Tool{Definition: config(`{"type":"mcp"}`)}, tool.BucketMCP},
		{
			"MCPByConfigBeatsType",
			tool.Tool{ArtifactID: "a", Definition: tool.Definition{Implementation: tool.HTTP, Config: []byte(`{"type":"mcp"}`)}},
			tool.BucketMCP,
		},
		{
			"ArtifactByLink",
			tool.Tool{ArtifactID: "a", Definition: tool.Definition{Implementation: tool.HTTP}},
			tool.BucketArtifact,
		},
		{"Artifact", tool.Tool{Definition: tool.Definition{Implementation: tool.Artifact}}, tool.BucketArtifact},
		{"HTTP", tool.Tool{Definition: tool.Definition{Implementation: tool.HTTP}}, tool.BucketCustom},
		{"BadConfig", tool.Tool{Definition: config(`nonsense`)}, tool.BucketCustom},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.tool.Bucket())
		})
	}
}

// The implementation type stands on the definition; older ones name it in
// their configuration.
func TestImplementationTypeFallsBackToConfig(t *testing.T) {
	t.Parallel()

	both := tool.Definition{Implementation: tool.HTTP, Config: []byte(`{"type":"mcp"}`)}
	require.Equal(t, tool.HTTP, both.ImplementationType())
	old := tool.Definition{Config: []byte(`{"type":"function"}`)}
	require.Equal(t, tool.Function, old.ImplementationType())
	require.Empty(t, (&tool.Definition{}).ImplementationType())
}

func TestShown(t *testing.T) {
	t.Parallel()

	yes, no := true, false
	require.True(t, (&tool.Definition{Implementation: tool.HTTP}).Shown())
	require.False(t, (&tool.Definition{Implementation: tool.Internal}).Shown())
	require.False(t, (&tool.Definition{Implementation: tool.MCP}).Shown())
	require.True(
		t, (&tool.Definition{Implementation: tool.Internal, Interaction: tool.Interaction{Visible: &yes}}).Shown(),
	)
	require.False(t, (&tool.Definition{Implementation: tool.HTTP, Interaction: tool.Interaction{Visible: &no}}).Shown())
}

func TestPermissions(t *testing.T) {
	t.Parallel()

	p := tool.Principal{Permissions: []string{"orders.read"}}
	require.True(t, p.May(""))
	require.True(t, p.May("orders.read"))
	require.False(t, p.May("orders.write"))
	require.True(t, tool.Principal{Permissions: []string{"*"}}.May("orders.write"))
}

// Whether a failure is tried again, and whether it leaves its outcome unknown, follows
// from its kind, from what was sent, and from what the tool allows.
func TestRetriesAndRiddles(t *testing.T) {
	t.Parallel()

	pure, once := tool.Execution{Pure: true}, tool.Execution{}
	tests := []struct {
		name    string
		err     tool.Error
		x       tool.Execution
		again   bool
		unknown bool
	}{
		{"PureAfterSending", tool.Error{Kind: tool.Timeout, Sent: true}, pure, true, false},
		{"OnceBeforeSending", tool.Error{Kind: tool.Unavailable}, once, true, false},
		{"OnceAfterSending", tool.Error{Kind: tool.Unavailable, Sent: true}, once, false, true},
		{"OnceTimeout", tool.Error{Kind: tool.Timeout, Sent: true}, once, false, true},
		{"OnceAnswered5xx", tool.Error{Kind: tool.Unavailable, Sent: true, Answered: true}, once, false, false},
		{"OnceLimited", tool.Error{Kind: tool.RateLimited, Sent: true, Answered: true}, once, false, false},
		{"Denied", tool.Error{Kind: tool.Denied}, pure, false, false},
		{"Unknown", tool.Error{Kind: tool.Unknown, Sent: true}, pure, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.again, tt.err.MayRetry(tt.x))
			require.Equal(t, tt.unknown, tt.err.OutcomeUnknown(tt.x))
		})
	}
}

func TestErrorChains(t *testing.T) {
	t.Parallel()

	cause := errors.New("dial tcp: refused")
	err := fmt.Errorf("calling: %w", &tool.Error{Kind: tool.Unavailable, Op: "x.Y", Msg: "down", Err: cause})
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.ErrorIs(t, err, cause)
	require.Equal(t, tool.InternalError, tool.KindOf(cause))
	require.NotContains(t, tool.AsError(cause).Msg, "refused", "an unclassified error's text is not for the caller")
}

// Every status ends in one event, and every kind in one status.
func TestEnds(t *testing.T) {
	t.Parallel()

	for _, s := range tool.InvocationStatuses() {
		require.NotEmpty(t, tool.EndEvent(s))
	}
	for _, k := range tool.Kinds() {
		require.True(t, tool.EndStatus(k).Final(), k)
	}
	require.Equal(t, tool.StatusUnknown, tool.EndStatus(tool.Unknown))
	require.Equal(t, tool.StatusCancelled, tool.EndStatus(tool.Cancelled))
	require.Equal(t, tool.EventCancelled, tool.EndEvent(tool.StatusCancelled))
}

func ExampleParseRef() {
	ref, err := tool.ParseRef("searchOrders@^1.2")
	fmt.Println(ref.Slug, ref.Constraint, err)
	// Output: searchOrders ^1.2 <nil>
}
