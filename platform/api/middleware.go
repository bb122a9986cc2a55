package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// logRequests writes a line for each request: what was asked and how it ended,
// and no value of it.
func (s *server) logRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		next.ServeHTTP(ww, r)
		level := slog.LevelInfo
		switch {
		case ww.Status() >= http.StatusInternalServerError:
			level = slog.LevelError
		case r.URL.Path == "/healthz" || r.URL.Path == "/readyz":
			level = slog.LevelDebug
		}
		s.log.LogAttrs(r.Context(), level, "request",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", ww.Status()),
			slog.Duration("took", time.Since(began)), slog.Int("bytes", ww.BytesWritten()),
			slog.String("trace_id", traceID(r.Context())))
	})
}

// recoverPanics answers a request whose handler panicked, and logs the stack.
func (s *server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.answerPanic(w, r)
		next.ServeHTTP(w, r)
	})
}

// answerPanic is deferred around a handler.
func (s *server) answerPanic(w http.ResponseWriter, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // The server's own sentinel, panicked as it is.
		panic(v)
	}
	s.log.ErrorContext(r.Context(), "a handler panicked", slog.Any("panic", v),
		slog.String("stack", string(debug.Stack())), slog.String("trace_id", traceID(r.Context())))
	writeProblem(w, r, problemOf(&tool.Error{Kind: tool.InternalError}))
}

// limitTime ends the context of a request that takes too long. The handler
// then answers that it did.
func (s *server) limitTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), s.cfg.RequestTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// writeProblem answers outside the framework.
func writeProblem(w http.ResponseWriter, r *http.Request, p *v1.Problem) {
	shown := *p
	shown.TraceID = traceID(r.Context())
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", v1.ProblemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(shown) // Nobody is left to tell.
}

// refuseRoute answers for a path or method that there is not.
func refuseRoute(status int, detail string) http.HandlerFunc {
	kind := kindOf(status)
	return func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, r, &v1.Problem{Title: http.StatusText(status), Status: status, Code: kind, Detail: detail})
	}
}
