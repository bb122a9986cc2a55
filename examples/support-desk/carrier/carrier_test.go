package carrier_test

import (
	"encoding/json"
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
	session, err := client.Connect(
		t.Context(), &mcp.StreamableClientTransport{Endpoint: front.URL, HTTPClient: front.Client()}, nil,
	)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })

	call := func(order string) *mcp.CallToolResult {
		result, err := session.CallTool(
			t.Context(), &mcp.CallToolParams{Name: "track_parcel", Arguments: map[string]any{"order_id": order}},
		)
		require.NoError(t, err)
		return result
	}
	found := call("SO-1017")
	require.False(t, found.IsError)
	raw, err := json.Marshal(found.StructuredContent)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"expected_on":"2026-03-13"`)
	require.True(t, call("SO-1007").IsError)
}
