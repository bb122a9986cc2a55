package carrier_test

import (
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/examples/support-desk/carrier"
)

func TestTrackParcel(t *testing.T) {
	t.Parallel()

	front := httptest.NewServer(carrier.Handler())
	t.Cleanup(front.Close)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: front.URL, HTTPClient: front.Client()}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })

	call := func(order string) *mcp.CallToolResult {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "track_parcel", Arguments: map[string]any{"order_id": order}})
		require.NoError(t, err)
		return result
	}
	found := call("SO-1017")
	require.False(t, found.IsError)
	require.Equal(t, "2026-03-13", found.StructuredContent.(map[string]any)["expected_on"])
	require.True(t, call("SO-1007").IsError)
}
