package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// A tool with an option that no provider's API has, or that its schema does not permit, is not published.
func TestProviderOptionsArePublishedIfKnown(t *testing.T) {
	t.Parallel()

	for options, path := range map[string]string{
		`{"openai":{"strict":true}}`:                           "",
		`{"openai":{"strict":false}}`:                          "",
		`{"anthropic":{"cache_control":{"type":"ephemeral"}}}`: "",
		`{"someProvider":{"x":1}}`:                             "/interaction/provider_options",
		`{"openai":{"cache_control":{}}}`:                      "/interaction/provider_options",
		`{"openai":{"strict":"yes"}}`:                          "/interaction/provider_options/openai/strict",
	} {
		b := setup(t)
		s := spec("find")
		s.Interaction.ProviderOptions = json.RawMessage(options)
		_, _, err := b.registry.Create(t.Context(), b.ada, s)
		require.NoError(t, err, "a draft may hold anything")
		_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: s.Slug})
		if path == "" {
			require.NoError(t, err, options)
			continue
		}
		registrytest.RequireRefused(t, err, tool.Invalid, path, "")
	}

	b := setup(t)
	s := spec("find")
	s.InputSchema = json.RawMessage(`{"type":"object","properties":{"a":{}}}`)
	s.Interaction.OpenInput, s.Interaction.ProviderOptions = true, json.RawMessage(`{"openai":{"strict":true}}`)
	_, _, err := b.registry.Create(t.Context(), b.ada, s)
	require.NoError(t, err)
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: s.Slug})
	registrytest.RequireRefused(t, err, tool.Invalid, "/interaction/provider_options/openai/strict", "no strict form")
}
