package mcpcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// withApps adds resources that may be apps, by their names, and a tool that names one.
func withApps(s *mcp.Server, contents map[string]*mcp.ResourceContents) {
	for name, c := range contents {
		s.AddResource(&mcp.Resource{URI: "ui://orders/" + name, Name: name},
			func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				if c.URI == "" {
					c.URI = r.Params.URI
				}
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
			})
	}
	s.AddTool(&mcp.Tool{
		Name: "shown", InputSchema: json.RawMessage(`{"type":"object"}`),
		Meta: mcp.Meta{"ui": map[string]any{"resourceUri": "ui://orders/page", "visibility": []string{"app"}}},
	}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
}

// An app is read from servers of every generation, and only one of the type of apps, of the resource that was asked
// for, and of a bounded size.
func TestReadApp(t *testing.T) {
	t.Parallel()

	const html = "<!doctype html><title>Order</title>"
	for name, g := range generations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := sdkServer(t)
			withApps(s, map[string]*mcp.ResourceContents{
				"page": {MIMEType: remote.AppMIMEType, Text: html, Meta: mcp.Meta{"ui": map[string]any{
					"prefersBorder": true,
					"csp":           map[string]any{"connectDomains": []string{"https://api.example.com", "http://plain.example.com"}},
				}}},
				"bytes":   {MIMEType: `Text/HTML; profile="mcp-app"`, Blob: []byte(html)},
				"other":   {MIMEType: "text/html", Text: html},
				"foreign": {URI: "ui://orders/page", MIMEType: remote.AppMIMEType, Text: html},
				"long":    {MIMEType: remote.AppMIMEType, Text: strings.Repeat("x", 2<<20+1)},
				"endless": {MIMEType: remote.AppMIMEType, Text: strings.Repeat("x", 5<<20)},
				"broken":  {MIMEType: remote.AppMIMEType, Blob: []byte("\xff\xfe")},
			})
			address := serve(t, g.handler(s))
			_, c := newClient(t, address, mcpcall.Options{})
			read := func(name string) (*mcpcall.App, error) {
				return c.ReadApp(t.Context(), mcpcall.Access{Tenant: "t1", Class: tool.EgressWrite}, fmt.Appendf(nil,
					`{"server_url":%q,"transport":%q,"tool_name":"shown","ui":{"resource_uri":"ui://orders/%s",
						"resource_domains":["https://cdn.example.com"]}}`, address, g.transport, name))
			}
			app, err := read("page")
			require.NoError(t, err)
			require.Equal(t, &mcpcall.App{
				ResourceURI: "ui://orders/page", HTML: html, ConnectDomains: []string{"https://api.example.com"},
				PrefersBorder: true,
			}, app)
			app, err = read("bytes")
			require.NoError(t, err)
			require.Equal(t, html, app.HTML)
			require.Equal(t, []string{"https://cdn.example.com"}, app.ResourceDomains, "the resource declares nothing")
			for name, why := range map[string]string{
				"other": "not of the type", "foreign": "another resource", "long": "longer than", "endless": "longer than",
				"broken": "not text", "absent": "does not give its app",
			} {
				_, err := read(name)
				require.Equal(t, tool.Unavailable, tool.KindOf(err), "%s: %v", name, err)
				require.ErrorContains(t, err, why, name)
			}
			found, err := c.Discover(t.Context(), mcpcall.Access{Tenant: "t1", Class: tool.EgressReadOnly},
				remote.Server{URL: address, Transport: g.transport})
			require.NoError(t, err)
			for _, d := range found.Tools {
				if d.Name == "shown" {
					require.Equal(t, &remote.UI{ResourceURI: "ui://orders/page", Visibility: []string{"app"}}, d.UI)
				} else {
					require.Nil(t, d.UI)
				}
			}
		})
	}
}

func TestReadAppOfNone(t *testing.T) {
	t.Parallel()

	address := serve(t, generations["with sessions"].handler(sdkServer(t)))
	_, c := newClient(t, address, mcpcall.Options{})
	_, err := c.ReadApp(t.Context(), mcpcall.Access{Tenant: "t1", Class: tool.EgressWrite},
		json.RawMessage(config(address, "order", remote.StreamableHTTP)))
	require.Equal(t, tool.NotFound, tool.KindOf(err))
	for _, bad := range []string{
		`{"resource_uri":"https://a.example"}`, `{"visibility":["everyone"]}`, `{"connect_domains":["*"]}`, `{"more":1}`,
	} {
		err := mcpcall.CheckConfig(fmt.Appendf(nil, `{"server":"orders","tool_name":"order","ui":%s}`, bad))
		require.Equal(t, tool.Invalid, tool.KindOf(err), bad)
	}
}
