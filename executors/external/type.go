// Package external describes the implementation types whose calls run outside
// the platform: by a client, such as a browser, or by the provider of the model.
package external

import (
	"encoding/json"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/tool"
)

// Client describes tools that a client, such as a browser, runs.
func Client() executors.Type {
	return executors.Type{
		Traits: tool.Traits{Implementation: tool.Client, RunBy: tool.RunByClient},
	}
}

// Provider describes tools that the provider of a model runs.
func Provider() executors.Type {
	return executors.Type{
		Traits: tool.Traits{Implementation: tool.Provider, RunBy: tool.RunByProvider},
		CheckConfig: func(config, _ json.RawMessage) error {
			_, err := agent.ReadProviderTool("", config)
			return err
		},
	}
}
