package redact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/redact"
)

// Log lines hold no secret, whether an attribute is named for it, or a text or
// an error quotes it; what is not one stays as it is.
func TestLogsHideSecrets(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	log := slog.New(redact.Handler(slog.NewTextHandler(&out, nil)))
	url := "postgres://app:" + hush + "@db/crib"
	log.With(slog.String("password", hush)).WithGroup("g").Info("dialing",
		slog.String("url", url), slog.Any("error", fmt.Errorf("opening %s: %w", url, errors.New("refused"))),
		slog.Group("inner", slog.String("api_key", hush)),
		slog.Any("body", json.RawMessage(`{"secret":"`+hush+`","name":"x"}`)), slog.Int("tokens", 3),
		slog.String("tool", "searchOrders"))
	require.NotContains(t, out.String(), hush)
	for _, kept := range []string{
		"opening postgres://app:", "refused", "g.tokens=3", "g.tool=searchOrders", "g.inner.api_key=[redacted]",
	} {
		require.Contains(t, out.String(), kept)
	}
}
