package telemetry

import (
	"context"
	"errors"
	"log/slog"

	"github.com/toolcrib/toolcrib/tool"
)

// drifted records a call that was refused because it exceeds its tool's declared egress class.
func (t *Telemetry) drifted(ctx context.Context, call *tool.Call, impl string, err error) {
	drift, ok := errors.AsType[*tool.DriftError](err)
	if !ok {
		return
	}
	t.metrics.add(ctx, t.metrics.drifts, 1, labels{{implementationLabel, impl}, {declaredLabel, string(drift.Declared)}})
	if t.log == nil {
		return
	}
	t.log.LogAttrs(ctx, slog.LevelWarn, "call exceeds the tool's egress class", append(callAttrs(call),
		slog.String("kind", string(tool.KindOf(err))), slog.String("declared", string(drift.Declared)),
		slog.String("attempted", drift.Attempted))...)
}
