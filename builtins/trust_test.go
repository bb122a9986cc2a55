package builtins_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
)

// A new built-in is decided about here: whether others write what it answers.
func TestUntrustedBuiltins(t *testing.T) {
	t.Parallel()

	catalog := builtins.Described(nil)
	var untrusted []string
	for _, spec := range catalog.Specs() {
		if catalog.Untrusted(spec.Key) {
			untrusted = append(untrusted, spec.Key)
		}
	}
	require.Equal(t, []string{
		"enter_space", "http_request", "mcp_call", "read_messages", "task_status", "web_fetch", "web_search",
	}, untrusted)
	for key, secret := range map[string]bool{
		"mcp_call": true, "web_search": true, "retrieval_pipeline": true, "web_fetch": false, "none": false,
	} {
		require.Equal(t, secret, catalog.Secret(key), key)
	}
	require.False(t, catalog.Untrusted("none"))
}
