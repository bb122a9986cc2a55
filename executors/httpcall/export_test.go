package httpcall

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// Target returns the URL that a configuration and arguments lead to.
func Target(config, args json.RawMessage) (string, error) {
	p, err := compile(config)
	if err != nil {
		return "", err
	}
	req, err := p.request(&tool.Call{Version: &tool.Version{}, Arguments: args})
	if err != nil {
		return "", err
	}
	return req.URL, nil
}
