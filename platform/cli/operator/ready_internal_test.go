package operator

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// A health check ends with 0 where /readyz says ok, and with 6 where it does not or
// nothing answers.
func TestReady(t *testing.T) {
	t.Parallel()

	answer, status := `{"status":"ok"}`, http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
		if r.URL.Path != "/readyz" {
			t.Errorf("asked for %s", r.URL.Path)
		}
	}))
	ask := func(url string) (int, string) {
		var out bytes.Buffer
		env := cli.Env{In: strings.NewReader(""), Out: &out, Err: &out}
		return cli.Run(t.Context(), env, []string{"ready", url}, New), out.String()
	}
	code, out := ask(server.URL)
	require.Equal(t, cli.ExitOK, code, out)

	answer, status = `{"status":"degraded"}`, http.StatusServiceUnavailable
	code, out = ask(server.URL)
	require.Equal(t, cli.ExitUnavailable, code)
	require.Contains(t, out, "not ready")

	server.Close()
	code, _ = ask(server.URL)
	require.Equal(t, cli.ExitUnavailable, code)
	code, _ = ask("nowhere")
	require.Equal(t, cli.ExitUsage, code)
}
