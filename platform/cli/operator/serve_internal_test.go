package operator

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Links begin with an address that a person can open, or with none.
func TestPublicURL(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"": "", "https://tools.example.com": "https://tools.example.com",
		"https://tools.example.com/": "https://tools.example.com",
		"https://example.com/a/b/":   "https://example.com/a/b", "https://example.com/tools": "https://example.com/tools",
		"http://127.0.0.1:8080": "http://127.0.0.1:8080", "https://[::1]:8443": "https://[::1]:8443",
	} {
		got, err := publicURL(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{
		"tools.example.com", "//tools.example.com", "ftp://tools.example.com", "javascript:alert(1)", "https://",
		"https://example.com/a//b", "https://example.com/a/../b", "https://example.com/a%2Fb", "https://example.com/a b",
		"https://example.com//evil.example", "https://me:secret@tools.example.com", "https://tools.example.com?a=1",
		"https://tools.example.com#a", "https://tools.example.com:port", "https:tools.example.com", " https://a.example",
	} {
		_, err := publicURL(text)
		require.ErrorContains(t, err, "--public-url", text)
	}
}

// The Temporal UI may be under a path.
func TestTemporalUI(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"": "", "https://temporal.example.com/": "https://temporal.example.com",
		"http://127.0.0.1:8233/ui": "http://127.0.0.1:8233/ui",
	} {
		got, err := temporalUI(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{
		"temporal.example.com", "javascript:alert(1)", "https://", "https://me:secret@temporal.example.com",
		"https://temporal.example.com?a=1", "https://temporal.example.com#a",
	} {
		_, err := temporalUI(text)
		require.ErrorContains(t, err, "--temporal-ui", text)
	}
}

// The page of apps is at another host than the console, which has to be known.
func TestContentOrigin(t *testing.T) {
	t.Parallel()

	const public = "https://tools.example.com"
	got, err := contentOrigin("https://content.example.com/", public)
	require.NoError(t, err)
	require.Equal(t, "https://content.example.com", got)
	got, err = contentOrigin("", "")
	require.NoError(t, err)
	require.Empty(t, got)
	for _, tt := range [][2]string{
		{"content.example.com", public},
		{"https://content.example.com/path", public},
		{public, public},
		{public, public + "/a"},
		{"https://content.example.com", ""},
		{"https://content.example.com; script-src *", public},
	} {
		_, err := contentOrigin(tt[0], tt[1])
		require.ErrorContains(t, err, "--content-origin", "%v", tt)
	}
}
