package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Options that their API does not have are refused, with where they are.
func TestReadToolOptions(t *testing.T) {
	t.Parallel()

	for _, raw := range []string{``, ` `, `null`} {
		got, err := agent.ReadToolOptions(json.RawMessage(raw))
		require.NoError(t, err)
		require.Nil(t, got)
	}
	got, err := agent.ReadToolOptions(json.RawMessage(
		`{"openai":{"strict":true},"anthropic":{"cache_control":{"type":"ephemeral","ttl":"1h"}}}`,
	))
	require.NoError(t, err)
	require.True(t, *got.OpenAI.Strict)
	require.Equal(t, "1h", got.Anthropic.CacheControl.TTL)

	for raw, path := range map[string]string{
		`[]`:                      "",
		`{"someProvider":{}}`:     "",
		`{"openai":{"strct":1}}`:  "",
		`{"openai":{"strict":1}}`: "/openai/strict",
		`{"anthropic":{"cache_control":{"type":"eternal"}}}`:              "/anthropic/cache_control/type",
		`{"anthropic":{"cache_control":{"type":"ephemeral","ttl":"1d"}}}`: "/anthropic/cache_control/ttl",
	} {
		_, err := agent.ReadToolOptions(json.RawMessage(raw))
		require.Equal(t, tool.Invalid, tool.KindOf(err), raw)
		require.Equal(t, path, tool.AsError(err).Path, raw)
	}
}
