package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
)

// The API's description has the payload of every type of event.
func TestEventPayloadsAreDescribed(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					AnyOf       []map[string]string
					Description string
				}
			}
		}
	}
	b.do(t, http.MethodGet, "/openapi.json", "", "").into(t, &doc)
	data := doc.Components.Schemas["ToolEvent"].Properties["data"]
	for of := range agent.EventPayloads() {
		require.Contains(t, data.Description, string(of)+": ")
	}
	require.Contains(t, data.AnyOf, map[string]string{"$ref": "#/components/schemas/AgentRunEnded"})
}
