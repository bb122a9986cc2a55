package hostname_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/hostname"
)

// What is read as a source can stand in a policy: nothing else of a policy can be written by it.
func TestParseSource(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"https://example.com": "https://example.com", "HTTPS://API.Example.com:8443/": "https://api.example.com:8443",
		"wss://live.example.com": "wss://live.example.com", "https://*.example.com": "https://*.example.com",
		"https://[fd12::7]:444": "https://[fd12::7]:444", "https://10.0.0.7": "https://10.0.0.7",
	} {
		s, ok := hostname.ParseSource(text)
		require.True(t, ok, text)
		require.Equal(t, want, s.String())
	}
	for _, text := range []string{
		"", "*", "https:", "https://", "https://*", "https://*.*.com", "http://example.com", "ws://example.com", "data:",
		"'self'", "'unsafe-eval'", "example.com", "https://example.com/path", "https://example.com;script-src *",
		"https://example.com 'unsafe-eval'", "https://example.com,https://b", "https://user@example.com",
		"https://exa\nmple.com",
		"https://example.com?q", "https://example.com#f", "https://bücher.example", "https://example.com:*", "blob:https://a",
		" https://example.com", "https:// example.com", "https://fd12::7", "https://127.1", "javascript://example.com",
	} {
		_, ok := hostname.ParseSource(text)
		require.False(t, ok, "%q", text)
	}
}
