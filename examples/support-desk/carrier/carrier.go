package carrier

import (
	"context"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Query asks for a parcel.
type Query struct {
	OrderID string `json:"order_id" jsonschema:"the shop's order number, such as SO-1017"`
}

// Parcel is where a parcel is.
type Parcel struct {
	OrderID  string `json:"order_id"`
	Status   string `json:"status" jsonschema:"handed_over, in_transit or delivered"`
	Place    string `json:"place"`
	Expected string `json:"expected_on" jsonschema:"the day it should arrive, as 2026-03-13"`
}

// Handler serves the carrier's MCP server over streamable HTTP, with one tool,
// track_parcel.
func Handler() http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "north-sea-parcels", Version: "2.1.0"}, nil)
	closed := false
	mcp.AddTool(server, &mcp.Tool{
		Name: "track_parcel", Title: "Track a parcel",
		Description: "Tells where the parcel of an order is and when it should arrive.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
	}, track)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

func track(ctx context.Context, req *mcp.CallToolRequest, q Query) (*mcp.CallToolResult, Parcel, error) {
	if token := req.Params.GetProgressToken(); token != nil {
		// Whether anybody hears of it changes nothing.
		_ = req.Session.NotifyProgress(
			ctx,
			&mcp.ProgressNotificationParams{ProgressToken: token, Message: "asking the depot in Hamburg", Progress: 1, Total: 2},
		)
	}
	if q.OrderID != "SO-1017" {
		return nil, Parcel{}, fmt.Errorf("no parcel of order %s was handed over to us", q.OrderID)
	}
	return nil, Parcel{OrderID: q.OrderID, Status: "in_transit", Place: "Hamburg", Expected: "2026-03-13"}, nil
}
