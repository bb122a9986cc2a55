package operator

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/serve"
)

// Tokens of operators go over a listener without TLS: where others may reach it, the log warns.
func TestAdminServeWarnsBeyondLoopback(t *testing.T) {
	t.Parallel()

	for address, warns := range map[string]bool{
		"127.0.0.1:0": false, "localhost:0": false, "[::1]:0": false,
		"0.0.0.0:0": true, "[::]:0": true, ":0": true,
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()

			listener, err := serve.Listen(t.Context(), address)
			if err != nil && strings.HasPrefix(address, "[") {
				t.Skip("this machine has no addresses of version 6")
			}
			require.NoError(t, err)
			defer func() { require.NoError(t, listener.Close()) }()
			var log bytes.Buffer
			warnOfPlainTokens(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), listener)
			if !warns {
				require.Empty(t, log.String())
				return
			}
			for _, part := range []string{"level=WARN", "without TLS", listener.Addr().String()} {
				require.Contains(t, log.String(), part)
			}
		})
	}
}
