package observe_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/tool"
)

func newObserver(t *testing.T, environment map[string]string) (*observe.Observer, error) {
	t.Helper()
	o, err := observe.New(t.Context(), observe.Config{
		Service: "test", Getenv: func(name string) string { return environment[name] },
	})
	if err == nil {
		t.Cleanup(func() { _ = o.Stop(context.Background()) })
	}
	return o, err
}

// Traces go where the standard variables say, and nowhere by default.
func TestTracesAreOffUnlessAskedFor(t *testing.T) {
	t.Parallel()

	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for name, tt := range map[string]struct {
		environment map[string]string
		on          bool
	}{
		"Default":  {nil, false},
		"Endpoint": {map[string]string{endpoint: "http://127.0.0.1:1"}, true},
		"TracesEndpoint": {
			map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://collector.example/v1/traces"}, true,
		},
		"Exporter": {map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true},
		"None":     {map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}, false},
		"Disabled": {map[string]string{endpoint: "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o, err := newObserver(t, tt.environment)
			require.NoError(t, err)
			require.Equal(t, tt.on, o.TracerProvider() != nil)
		})
	}
}

// What is asked for and can't be had is refused when the process starts, with
// the variable's name and without its value, which may hold a secret.
func TestTracesRefuseWhatThereIsNot(t *testing.T) {
	t.Parallel()

	const secret = "tc-synthetic-secret"
	for variable, environment := range map[string]map[string]string{
		"OTEL_TRACES_EXPORTER":        {"OTEL_TRACES_EXPORTER": "zipkin"},
		"OTLP protocol":               {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		"OTEL_EXPORTER_OTLP_ENDPOINT": {"OTEL_EXPORTER_OTLP_ENDPOINT": secret + "/collector"},
		"OTEL_EXPORTER_OTLP_CERTIFICATE": {
			"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_CERTIFICATE": filepath.Join(t.TempDir(), "none"),
		},
	} {
		_, err := newObserver(t, environment)
		require.ErrorContains(t, err, variable)
		require.Equal(t, tool.Invalid, tool.KindOf(err))
		require.NotContains(t, err.Error(), secret)
	}
}
