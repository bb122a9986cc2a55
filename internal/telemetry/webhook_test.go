package telemetry_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/telemetry"
)

// Attempts at deliveries and their ends are counted, by outcome.
func TestWebhooksAreCounted(t *testing.T) {
	t.Parallel()

	sums := &tally{sums: make(map[string]float64)}
	tel, err := telemetry.New(sums, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	clear(sums.sums) // What begins at zero.
	o := tel.Webhooks()
	o.Attempted(t.Context(), "retried", time.Second)
	o.Attempted(t.Context(), "delivered", time.Second)
	o.Over(t.Context(), "delivered", 5*time.Second)
	require.Equal(t, map[string]float64{
		"toolcrib.webhook.attempt.duration[{outcome retried}]":   1,
		"toolcrib.webhook.attempt.duration[{outcome delivered}]": 1,
		"toolcrib.webhook.delivery.delay[{outcome delivered}]":   5,
	}, sums.sums)

	off, err := telemetry.New(nil, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	require.NotPanics(t, func() { off.Webhooks().Over(t.Context(), "failed", 1) })
}
