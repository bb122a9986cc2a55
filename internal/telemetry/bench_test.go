package telemetry_test

import (
	"context"
	"testing"

	"github.com/toolcrib/toolcrib/internal/telemetry/telemetrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// BenchmarkMiddleware measures what telemetry adds to a call: nothing around
// it, off as by default, and with a provider that keeps spans.
func BenchmarkMiddleware(b *testing.B) {
	result := &tool.Result{}
	bare := tool.Executor(tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
		return result, nil
	}))
	around := newTelemetry(b, nil).Middleware()(bare)
	recording, _ := (&telemetrytest.Recorder{}).Tracer("").Start(b.Context(), "parent")
	measure := func(ctx context.Context, e tool.Executor) func(*testing.B) {
		return func(b *testing.B) {
			b.Helper()
			call := aCall()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Execute(ctx, call); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("Bare", measure(b.Context(), bare))
	b.Run("Off", measure(b.Context(), around))
	b.Run("Recording", measure(recording, around))
}
