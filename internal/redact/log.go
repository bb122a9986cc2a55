package redact

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/toolcrib/toolcrib/tool"
)

// Handler returns a handler that hides likely secrets in records, by the names of attributes
// and by the forms of texts and errors, and passes them to next.
func Handler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ next slog.Handler }

// Enabled implements [slog.Handler].
func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	shown := slog.NewRecord(r.Time, r.Level, Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		shown.AddAttrs(attribute(a))
		return true
	})
	return h.next.Handle(ctx, shown)
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	shown := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		shown[i] = attribute(a)
	}
	return handler{h.next.WithAttrs(shown)}
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler { return handler{h.next.WithGroup(name)} }

func attribute(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		var members []any
		for _, member := range v.Group() {
			members = append(members, attribute(member))
		}
		return slog.Group(a.Key, members...)
	case slog.KindString:
		if SensitiveKey(a.Key) {
			return slog.String(a.Key, tool.Redacted)
		}
		return slog.String(a.Key, Text(v.String()))
	case slog.KindAny:
		switch text := v.Any().(type) {
		case error:
			if shown := Text(text.Error()); shown != text.Error() {
				return slog.String(a.Key, shown)
			}
		case json.RawMessage:
			return slog.Any(a.Key, JSON(text))
		}
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64,
		slog.KindLogValuer:
	}
	return a
}
