package api

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// Each kind has one status, and an internal failure discloses nothing.
func TestStatuses(t *testing.T) {
	t.Parallel()
	want := map[tool.Kind]int{
		tool.Invalid: 422, tool.NotFound: 404, tool.Denied: 403, tool.Conflict: 409, tool.RateLimited: 429,
		tool.Unavailable: 503, tool.Timeout: 504, tool.Unknown: 502, tool.Cancelled: 409, tool.InternalError: 500,
	}
	require.Len(t, want, len(tool.Kinds()))
	for _, kind := range tool.Kinds() {
		p := problemOf(&tool.Error{Kind: kind, Msg: "seen", Path: "/a", Err: errors.New("unseen")})
		require.Equal(t, want[kind], p.Status, kind)
		require.Equal(t, kind, p.Code)
		require.Equal(t, kind.Retryable(), p.Retryable)
		require.NotContains(t, fmt.Sprint(p), "unseen")
	}
	plain := problemOf(errors.New("a database's words"))
	require.Equal(t, 500, plain.Status)
	require.NotContains(t, plain.Detail, "database")

	limited := problemOf(&tool.Error{Kind: tool.RateLimited, RetryAfter: 1500 * time.Millisecond})
	require.Equal(t, "2", limited.GetHeaders().Get("Retry-After"))
}

func TestPanicIsAnswered(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &server{log: slog.New(slog.NewTextHandler(&log, nil))}
	handler := s.trace(s.recoverPanics(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a secret") })))
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.NotContains(t, w.Body.String(), "a secret")
	require.NotContains(t, log.String(), "a secret", "a value may be anything")
	require.Contains(t, log.String(), "panic=string")
	require.Contains(t, log.String(), "TestPanicIsAnswered")
}

func TestTraceIDs(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{"abc-1": "abc-1", "a b": "", "": ""} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set(TraceHeader, header)
		w := httptest.NewRecorder()
		(&server{}).trace(http.NotFoundHandler()).ServeHTTP(w, r)
		got := w.Header().Get(TraceHeader)
		require.NotEmpty(t, got)
		if want != "" {
			require.Equal(t, want, got)
		} else {
			require.Len(t, got, 32)
		}
	}
}
