package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLogger hands the server's warnings and errors to slog and drops the rest.
type serverLogger struct {
	ctx    context.Context //nolint:containedctx // The interface has no place for one.
	logger *slog.Logger
	tags   []tag.Tag // Of every line. Most loggers that are made write none.
	state  *loggerState
}

// loggerState is shared by a logger and all that were made from it.
type loggerState struct {
	making atomic.Bool // The server is being made.
	quiet  atomic.Bool // The server is being stopped.
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

// Fatal logs an error that would end the process, which the server must not do.
// While the server is being created, on the goroutine of the caller, it panics
// with a [fatalError] for the caller to recover; later it ends only its own
// goroutine.
func (l *serverLogger) Fatal(msg string, tags ...tag.Tag) {
	err := errors.New(msg)
	for _, t := range tags {
		err = fmt.Errorf("%w; %s: %v", err, t.Key(), t.Value())
	}
	if l.state.making.Load() {
		panic(fatalError{err})
	}
	l.write(slog.LevelError, msg, tags)
	runtime.Goexit()
}

// fatalError is what a server under construction could not go on from.
type fatalError struct{ error }

// build calls fn and turns a [fatalError] into its error.
func (l *serverLogger) build(fn func() error) (err error) {
	l.state.making.Store(true)
	defer l.state.making.Store(false)
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case fatalError:
			err = cause.error
		default:
			panic(cause)
		}
	}()
	return fn()
}

// hush ends all logging. The server's own workers complain for a while that
// the server is gone.
func (l *serverLogger) hush() { l.state.quiet.Store(true) }

// With returns a logger that adds tags to every line.
func (l *serverLogger) With(tags ...tag.Tag) log.Logger {
	with := *l
	with.tags = append(slices.Clip(l.tags), tags...)
	return &with
}

// unwanted are warnings of each start about what this stack leaves out.
var unwanted = []string{"HTTP API port has not been set"}

func (l *serverLogger) write(level slog.Level, msg string, tags []tag.Tag) {
	known := func(part string) bool { return strings.Contains(msg, part) }
	if l.state.quiet.Load() || slices.ContainsFunc(unwanted, known) {
		return
	}
	l.logger.LogAttrs(l.ctx, level, msg, attributes(append(slices.Clip(l.tags), //nolint:sloglint // The message is the server's.
		tags...))...)
}

func attributes(tags []tag.Tag) []slog.Attr {
	attrs := make([]slog.Attr, len(tags))
	for i, t := range tags {
		attrs[i] = slog.Any(t.Key(), t.Value())
	}
	return attrs
}
