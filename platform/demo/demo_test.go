package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/demo"
	"github.com/toolcrib/toolcrib/platform/models/modeltest"
	"github.com/toolcrib/toolcrib/platform/sandbox"
)

// TestMain lets the test's binary be a sandbox too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == sandbox.Argument {
		os.Exit(sandbox.Main()) //nolint:forbidigo // It is a main.
	}
	m.Run()
}

// The whole demo, on a stack of its own: it fails if any call ends otherwise
// than expected, so that it succeeds is what it has to show.
func TestDemo(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	data := t.TempDir()
	err := demo.Run(ctx, demo.Config{
		Root: root(t), DataDir: data, Throwaway: true, Out: &out, Environ: []string{}, Sandbox: sandbox.Command(),
	})
	require.NoError(t, err, "%s", &out)
	for _, want := range []string{
		"quoteShipping@1.0.0", "a person approves refundOrder", "    parcel  ", "    shipping  ",
		"All 27 calls ended as the transcript expects", "askWarehouse@1.0.0", "[Tool Result: askWarehouse]",
		"Twenty blue teapots come in on 20 March", "request_input@1.2.0", "a person opens /i/… and answers",
		"Twenty green teapots are on order", "call the graph reviewCustomer",
	} {
		require.Contains(t, out.String(), want)
	}
	requirePicture(t, filepath.Join(data, "reviewCustomer.svg"))
	requireNoSecret(t, data, out.String())
}

var redraw = flag.Bool("redraw", false, "write the picture of the documentation anew")

// requirePicture requires that the picture of the documentation is the one that the demo draws.
func requirePicture(t *testing.T, drawn string) {
	t.Helper()
	got, err := os.ReadFile(drawn)
	require.NoError(t, err)
	shown := filepath.Join(root(t), "docs", "images", "reviewCustomer.svg")
	if *redraw {
		require.NoError(t, os.WriteFile(shown, got, 0o644))
	}
	want, err := os.ReadFile(shown)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// A live model is asked over the network, here at a server that answers as
// recorded, and the verdict is about what the platform made of its calls.
func TestDemoLive(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	const key = "test-key-of-the-demo"
	turns := []*modeltest.Exchange{modeltest.Load(t, "live-1"), modeltest.Load(t, "live-2"), modeltest.Load(t, "live-3")}
	server := modeltest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model    string `json:"model"`
			Stream   bool   `json:"stream"`
			Messages []struct {
				Role string `json:"role"`
			} `json:"messages"`
		}
		if json.NewDecoder(r.Body).Decode(&asked) != nil || r.Header.Get("Authorization") != "Bearer "+key ||
			asked.Model != "model-1" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		turn := 0
		for _, m := range asked.Messages {
			if m.Role == "assistant" {
				turn++
			}
		}
		if turn >= len(turns) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer := turns[turn].Whole
		if asked.Stream {
			answer = turns[turn].Stream
		}
		modeltest.Answer(answer)(w, r)
	})
	var out bytes.Buffer
	data := t.TempDir()
	err := demo.Run(ctx, demo.Config{Root: root(t), DataDir: data, Throwaway: true, Out: &out, Environ: []string{
		"TOOLCRIB_DEMO_MODEL=recorded/model-1", "TOOLCRIB_MODEL_RECORDED_BASE_URL=" + server.URL,
		"TOOLCRIB_MODEL_RECORDED_API_KEY=" + key,
	}})
	require.NoError(t, err, "%s", &out)
	for _, want := range []string{
		"recorded/model-1, live", "findCustomer@1.0.0", "getOrder@1.0.0", "writeNote@1.0.0",
		"All 4 calls ended as the platform promises",
	} {
		require.Contains(t, out.String(), want)
	}
	require.Len(t, server.Requests(), len(turns))
	requireNoSecret(t, data, out.String())
	log, err := os.ReadFile(filepath.Join(data, "demo.log"))
	require.NoError(t, err)
	require.NotContains(t, string(log)+out.String(), key)
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
