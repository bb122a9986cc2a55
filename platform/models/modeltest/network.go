package modeltest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// network: what failures of the network, deadlines and cancellation mean.
func (p Provider) network(t *testing.T) {
	t.Parallel()
	for way, change := range ways() {
		ask := func(ctx context.Context, m agent.Model) error {
			req := simple()
			change(req)
			_, err := m.Generate(ctx, req)
			return err
		}
		t.Run("Refused"+way, func(t *testing.T) {
			t.Parallel()

			e := tool.AsError(ask(t.Context(), p.open(t, "http://127.0.0.1:1"))) // No server listens there.
			require.Equal(t, tool.Unavailable, e.Kind)
			require.False(t, e.Sent)
			require.Contains(t, e.Msg, "refused the connection")
		})
		t.Run("BrokenOff"+way, func(t *testing.T) {
			t.Parallel()

			server := Serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
			e := tool.AsError(ask(t.Context(), p.open(t, server.URL)))
			require.Equal(t, tool.Unavailable, e.Kind)
			require.True(t, e.Sent)
			require.Contains(t, e.Msg, "the connection broke")
		})
		t.Run("Deadline"+way, func(t *testing.T) {
			t.Parallel()

			m := p.open(t, silent(t, nil).URL, func(c *remote.Config) { c.Timeout = 50 * time.Millisecond })
			later, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			for _, ctx := range []context.Context{t.Context(), later} { // The earlier of the two counts.
				e := tool.AsError(ask(ctx, m))
				require.Equal(t, tool.Timeout, e.Kind)
				require.ErrorIs(t, e, context.DeadlineExceeded)
			}
		})
		t.Run("Cancelled"+way, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithCancel(t.Context())
			e := tool.AsError(ask(ctx, p.open(t, silent(t, cancel).URL)))
			require.Equal(t, tool.Cancelled, e.Kind)
			require.ErrorIs(t, e, context.Canceled)
		})
		t.Run("Huge"+way, func(t *testing.T) {
			t.Parallel()

			const limit = 64 << 10
			server := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
				kind := "application/json"
				if way == "Stream" {
					kind = "text/event-stream"
				}
				w.Header().Set("Content-Type", kind)
				for range 64 { // The client leaves before the end.
					_, _ = w.Write([]byte(strings.Repeat(": nothing to see here\n", limit/32)))
				}
			})
			e := tool.AsError(ask(t.Context(), p.open(t, server.URL, func(c *remote.Config) { c.MaxBytes = limit })))
			require.Equal(t, tool.Invalid, e.Kind, "%v", e)
			require.Contains(t, e.Msg, "larger than 65536 bytes")
		})
	}
}

// silent serves no answer, and calls then when it was asked for one.
func silent(t *testing.T, then func()) *Server {
	t.Helper()
	over := make(chan struct{})
	server := Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if then != nil {
			then()
		}
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	t.Cleanup(func() { close(over) }) // Before the server closes, which waits for it.
	return server
}
