package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// An operator hears of a tool that drifted, by its name, at a level that is
// kept; of other refusals at this level nothing.
func TestDriftIsLogged(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	tel := newTelemetry(t, slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})))
	refusing := func(cause error) error {
		_, err := tel.Middleware()(tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
			return nil, &tool.Error{Kind: tool.Denied, Msg: "no", Err: cause}
		})).Execute(t.Context(), aCall())
		return err
	}
	require.Error(t, refusing(errors.New("another reason")))
	require.Empty(t, out.String())
	require.Error(t, refusing(&tool.DriftError{Declared: tool.EgressReadOnly, Attempted: "POST"}))
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	for key, want := range map[string]string{
		"level": "WARN", "tenant_id": "t1", "run_id": "r1", "call_id": "call_1", "tool": "search", "version": "1.2.0",
		"kind": "denied", "declared": "read_only", "attempted": "POST",
	} {
		require.Equal(t, want, line[key], key)
	}
	require.NotContains(t, out.String(), planted)
}
