package modeltest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Request is one that a server got.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         string
}

// Server is a fake provider, on loopback.
type Server struct {
	URL string

	mu       sync.Mutex
	requests []Request
}

// Serve serves with handler until the test ends.
func Serve(t *testing.T, handler http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // The client is gone.
		}
		s.mu.Lock()
		s.requests = append(s.requests, Request{
			Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: string(body),
		})
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Requests returns what came so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// One returns the only request that came.
func (s *Server) One(t *testing.T) Request {
	t.Helper()
	all := s.Requests()
	require.Len(t, all, 1)
	return all[0]
}

// Answer serves an answer.
func Answer(m Message) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { m.write(w) }
}

// write sends an answer event by event, as far as it goes.
func (m Message) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), m.Header)
	w.WriteHeader(m.Status)
	for _, event := range m.Events() {
		_, _ = io.WriteString(w, event)
		flush(w)
	}
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

func indented(t *testing.T, raw string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.Indent(&out, []byte(raw), "", "  "))
	return out.String()
}
