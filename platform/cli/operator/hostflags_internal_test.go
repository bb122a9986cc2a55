package operator

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Names by which a server is reached come from the flag, or else from the variable, and are names alone.
func TestPublicHosts(t *testing.T) {
	t.Parallel()

	variable := func(text string) func(string) string {
		return func(name string) string {
			require.Equal(t, PublicHostsVariable, name)
			return text
		}
	}
	got, err := ReadPublicHosts([]string{"tools.example.com", "[::1]", "api_1"}, variable("other.example.com"))
	require.NoError(t, err)
	require.Equal(t, []string{"tools.example.com", "::1", "api_1"}, got)
	got, err = ReadPublicHosts(nil, variable("a.example, b.example"))
	require.NoError(t, err)
	require.Equal(t, []string{"a.example", "b.example"}, got)
	got, err = ReadPublicHosts(nil, variable(""))
	require.NoError(t, err)
	require.Empty(t, got)
	for _, text := range []string{"https://a.example", "a.example:80", "*", "*.example", "a..b", "-a", "a/b", ""} {
		_, err := ReadPublicHosts([]string{text}, variable(""))
		require.ErrorContains(t, err, "--public-host", text)
	}
	_, err = ReadPublicHosts(nil, variable("a.example,*"))
	require.ErrorContains(t, err, PublicHostsVariable)
}
