package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/toolembed"
)

// Origins are allowed, listed and taken away by their name; a token is shown once.
func TestEmbedCommands(t *testing.T) {
	t.Parallel()

	s := setup(t)
	const say = "kind: tool\nslug: say\nname: Say\nimplementation_type: internal\ndescription: Says it.\n" +
		"version: 1.0.0\npublish: true\ninput_schema: {type: object, properties: {text: {type: string}}}\n"
	require.Equal(t, cli.ExitOK, s.pipe(t, say, "apply", "-f", "-").code)
	token := []string{"embed", "token", "say", "--origin", "https://shop.example.com", "--caller", "customer-7"}
	require.Contains(t, s.run(t, "embed", "origins").err, "toolcrib embed allow")
	require.Equal(t, cli.ExitDenied, s.run(t, token...).code)
	require.Contains(t, s.ok(t, "embed", "allow", "https://shop.example.com"), "may frame")
	require.Contains(t, s.ok(t, "embed", "origins"), "https://shop.example.com")
	var made v1.EmbedToken
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, append(token, "--json")...)), &made))
	_, ok := toolembed.ReadToken(made.Token)
	require.True(t, ok)
	require.True(t, strings.HasSuffix(made.URL, "/say"), made.URL)
	require.Contains(t, s.ok(t, token...), ":customer-7")
	wrong := s.run(t, "embed", "allow", "https://*.example.com")
	require.Contains(t, wrong.err, "wildcard")
	require.Contains(t, s.ok(t, "embed", "disallow", "https://shop.example.com"), "no longer")
	require.Equal(t, cli.ExitNotFound, s.run(t, "embed", "disallow", "https://shop.example.com").code)

	for _, wrong := range []string{"embed allow", "embed token say", "embed token say --origin https://a.example"} {
		require.Equal(t, cli.ExitUsage, s.run(t, strings.Fields(wrong)...).code, wrong)
	}
}
