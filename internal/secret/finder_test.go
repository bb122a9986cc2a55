package secret_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// A credential of several parts gives each of them, bound to the same hosts,
// and is hidden in whole and in parts.
func TestFields(t *testing.T) {
	t.Parallel()

	v := secret.NewValue(`{"client_id": "desk", "client_secret": "hush-hush-hush", "retries": 3, "empty": ""}`,
		"id.example.com")
	part, ok := v.Field("client_secret")
	require.True(t, ok)
	require.Equal(t, "hush-hush-hush", part.Reveal())
	require.Equal(t, []string{"id.example.com"}, part.Hosts())
	for _, name := range []string{"retries", "empty", "absent"} {
		_, ok := v.Field(name)
		require.False(t, ok, name)
	}
	for _, plain := range []string{"", "hush", "[1]", "{", `"x"`} {
		_, ok := secret.NewValue(plain).Field("client_secret")
		require.False(t, ok, plain)
	}

	ctx := secret.WithRedactor(t.Context(), secret.NewRedactor())
	secret.Note(ctx, v)
	require.Equal(t, "desk said "+secret.Redacted, secret.RedactorFrom(ctx).Text("desk said hush-hush-hush"),
		"a part is as secret as the whole, but a name is none")
}

type finder map[secret.Selector]error

func (f finder) Find(_ context.Context, _ tool.TenantID, s secret.Selector) (secret.Value, error) {
	err, ok := f[s]
	if !ok {
		return secret.Value{}, &tool.Error{Kind: tool.NotFound}
	}
	return secret.NewValue("key of "+s.String(), "example.com"), err
}

func TestOpenFirst(t *testing.T) {
	t.Parallel()

	preferred := secret.Selector{Category: "custom", Provider: "web_search", Variant: "serper"}
	fallback := secret.Selector{Category: "custom", Provider: "serper"}
	ctx := t.Context()

	v, s, err := secret.OpenFirst(ctx, finder{preferred: nil, fallback: nil}, "t", preferred, fallback)
	require.NoError(t, err)
	require.Equal(t, preferred, s)
	require.Equal(t, "key of custom/web_search/serper", v.Reveal())

	v, _, err = secret.OpenFirst(ctx, finder{fallback: nil}, "t", preferred, fallback)
	require.NoError(t, err)
	require.Equal(t, "key of custom/serper", v.Reveal())

	for _, f := range []secret.Finder{nil, finder{}} {
		_, _, err = secret.OpenFirst(ctx, f, "t", preferred, fallback)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
	}

	_, _, err = secret.OpenFirst(ctx, finder{preferred: errors.New("down"), fallback: nil}, "t", preferred, fallback)
	require.ErrorContains(t, err, "down", "a broken store lets no lesser credential answer")
}
