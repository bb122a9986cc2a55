package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A session has the kind of its browser, and nothing else of what the browser says of itself.
func TestBrowserNames(t *testing.T) {
	t.Parallel()

	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0": "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
			"Safari/537.36 Edg/140.0": "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18 Safari/605.1":            "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/140 Safari/604.1":      "Chrome on iOS",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140 Mobile Safari/537.36": "Chrome on Android",
		"curl/8.5.0":                   "",
		"<script>alert(1)</script>":    "",
		"Linux <b>of another kind</b>": "Linux",
	} {
		require.Equal(t, want, browserName(agent), agent)
	}
}
