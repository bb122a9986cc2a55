package demo_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/demo"
)

// The whole demo, on a stack of its own: it fails if any call ends otherwise
// than expected, so that it succeeds is what it has to show.
func TestDemo(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	data := t.TempDir()
	err := demo.Run(ctx, demo.Config{Root: root(t), DataDir: data, Throwaway: true, Out: &out})
	require.NoError(t, err, "%s", &out)
	for _, want := range []string{"quoteShipping@1.0.0", "needs approval", "All 15 calls ended as the transcript expects"} {
		require.Contains(t, out.String(), want)
	}
	requireNoSecret(t, data, out.String())
}

// requireNoSecret proves that the shop's token is nowhere but where it is kept.
func requireNoSecret(t *testing.T, data, printed string) {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(data, "secrets", "_shared", "shop-api"))
	require.NoError(t, err)
	token = bytes.TrimSpace(token)
	require.NotEmpty(t, token)
	log, err := os.ReadFile(filepath.Join(data, "demo.log"))
	require.NoError(t, err)
	require.NotContains(t, string(log), string(token))
	require.NotContains(t, printed, string(token))
}

// A demo that is interrupted stops what it started, and says that it was.
func TestInterrupted(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	err := demo.Run(ctx, demo.Config{Root: root(t), DataDir: t.TempDir(), Throwaway: true, Out: &out})
	require.ErrorIs(t, err, context.Canceled, "%s", &out)
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	return dir
}
