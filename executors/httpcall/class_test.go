package httpcall_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/tool"
)

func TestNeeds(t *testing.T) {
	t.Parallel()

	for method, want := range map[string]tool.Egress{
		"": tool.EgressReadOnly, "GET": tool.EgressReadOnly, "HEAD": tool.EgressReadOnly, "OPTIONS": tool.EgressReadOnly,
		"POST": tool.EgressWrite, "PUT": tool.EgressWrite, "PATCH": tool.EgressWrite, "DELETE": tool.EgressWrite,
	} {
		class, sends := httpcall.Needs(json.RawMessage(`{"url":"https://example.com/","method":"` + method + `"}`))
		require.Equal(t, want, class, method)
		require.NotEmpty(t, sends)
	}
	class, sends := httpcall.Needs(json.RawMessage(`[`))
	require.Equal(t, tool.EgressReadOnly, class)
	require.Empty(t, sends)
}
