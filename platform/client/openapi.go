package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// ImportOpenAPI makes tools of a document of OpenAPI, or unless in.DryRun is
// false tells what that would make.
func (c *Client) ImportOpenAPI(ctx context.Context, in v1.ImportOpenAPI) (v1.ImportedOpenAPI, error) {
	var out v1.ImportedOpenAPI
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"tools", "import", "openapi"}, body: in, out: &out})
	return out, err
}
