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

// A declaration is for POST alone: it lowers what the configuration needs, and
// is refused beside any other method.
func TestDeclaresReads(t *testing.T) {
	t.Parallel()

	declared := func(method string) json.RawMessage {
		return json.RawMessage(`{"url":"https://example.com/search","method":"` + method + `","reads":true}`)
	}
	for _, method := range []string{"POST", "post"} {
		require.NoError(t, httpcall.CheckConfig(declared(method)))
		require.True(t, httpcall.DeclaresReads(declared(method)))
		class, sends := httpcall.Needs(declared(method))
		require.Equal(t, tool.EgressReadOnly, class)
		require.Equal(t, "POST", sends)
	}
	for _, method := range []string{"", "GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"} {
		err := httpcall.CheckConfig(declared(method))
		require.Equal(t, tool.Invalid, tool.KindOf(err), method)
		require.Equal(t, "/reads", tool.AsError(err).Path, method)
	}
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		class, _ := httpcall.Needs(declared(method))
		require.Equal(t, tool.EgressWrite, class, method)
	}
	require.False(t, httpcall.DeclaresReads(json.RawMessage(`{"url":"https://example.com/","method":"POST"}`)))
	require.False(t, httpcall.DeclaresReads(json.RawMessage(`[`)))
}
