package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// recoverPanics answers a request whose handler panicked, and logs where.
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
	// The value may be anything, a request's secrets included; its type and the
	// stack lead to the defect.
	s.log.ErrorContext(r.Context(), "a handler panicked", slog.String("panic", fmt.Sprintf("%T", v)),
		slog.String("stack", string(debug.Stack())), slog.String("trace_id", traceID(r.Context())))
	writeProblem(w, r, problemOf(&tool.Error{Kind: tool.InternalError}))
}

// limitTime cancels the context of a request that takes too long; the handler
// then answers with a timeout. Streams are not limited, nor are requests of MCP
// clients, which wait for calls.
func (s *server) limitTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asksForStream(r) || isMCP(r) {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), s.cfg.RequestTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// writeProblem answers outside the framework. A header that is set already stays.
func writeProblem(w http.ResponseWriter, r *http.Request, p *v1.Problem) {
	shown := *p
	shown.TraceID = traceID(r.Context())
	for name, values := range p.GetHeaders() {
		if _, set := w.Header()[name]; !set {
			w.Header()[name] = values
		}
	}
	w.Header().Set("Content-Type", v1.ProblemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(shown) // An error cannot be reported any more.
}
