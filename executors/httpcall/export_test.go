package httpcall

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// Target returns the URL that a configuration and arguments lead to.
func Target(ctx context.Context, config, args json.RawMessage) (string, error) {
	p, err := compile(config)
	if err != nil {
		return "", err
	}
	req, err := p.request(ctx, &tool.Call{Version: &tool.Version{}, Arguments: args})
	if err != nil {
		return "", err
	}
	return req.URL, nil
}
