package devstack

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLogger hands the server's warnings and errors to slog and drops the rest.
type serverLogger struct {
	ctx    context.Context //nolint:containedctx // The interface has no place for one.
	logger *slog.Logger
	state  *loggerState
}

// loggerState is shared by a logger and all that were made from it.
type loggerState struct {
	quiet atomic.Bool // Set when the server is being stopped.
	mu    sync.Mutex
	fatal error // Why the server wanted to end the process.
}

var (
	_ log.Logger     = (*serverLogger)(nil)
	_ log.WithLogger = (*serverLogger)(nil)
)

func newServerLogger(ctx context.Context, logger *slog.Logger) *serverLogger {
	return &serverLogger{
		ctx:    context.WithoutCancel(ctx),
		logger: logger.With(slog.String("service", "temporal")),
		state:  &loggerState{},
	}
}

func (l *serverLogger) Debug(string, ...tag.Tag) {}

func (l *serverLogger) Info(string, ...tag.Tag) {}

func (l *serverLogger) Warn(msg string, tags ...tag.Tag) { l.write(slog.LevelWarn, msg, tags) }

func (l *serverLogger) Error(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

// DPanic panics in development only, which a user of this stack is not in.
func (l *serverLogger) DPanic(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

func (l *serverLogger) Panic(msg string, tags ...tag.Tag) {
	l.write(slog.LevelError, msg, tags)
	panic(msg)
}

// Fatal ends the calling goroutine, not the process: the process is not the server's.
func (l *serverLogger) Fatal(msg string, tags ...tag.Tag) {
	err := errors.New(msg)
	for _, t := range tags {
		if cause, ok := t.Value().(error); ok {
			err = errors.Join(err, cause)
		}
	}
	l.state.mu.Lock()
	l.state.fatal = errors.Join(l.state.fatal, err)
	l.state.mu.Unlock()
	runtime.Goexit()
}

// fatal returns why the server wanted to end the process, if it did.
func (l *serverLogger) fatal() error {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	return l.state.fatal
}

// hush ends all logging. The server's own workers complain for a while that
// the server is gone.
func (l *serverLogger) hush() { l.state.quiet.Store(true) }

// With returns a logger that adds tags to every line.
func (l *serverLogger) With(tags ...tag.Tag) log.Logger {
	with := *l
	with.logger = slog.New(l.logger.Handler().WithAttrs(attributes(tags)))
	return &with
}

func (l *serverLogger) write(level slog.Level, msg string, tags []tag.Tag) {
	if l.state.quiet.Load() {
		return
	}
	l.logger.LogAttrs(l.ctx, level, msg, attributes(tags)...) //nolint:sloglint // The message is the server's.
}

func attributes(tags []tag.Tag) []slog.Attr {
	attrs := make([]slog.Attr, len(tags))
	for i, t := range tags {
		attrs[i] = slog.Any(t.Key(), t.Value())
	}
	return attrs
}
