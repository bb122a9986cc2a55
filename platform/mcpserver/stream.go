package mcpserver

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// stream is the writer of an answer that may last. Each write has a deadline, so that a client that
// does not read blocks its own connection only, and comments may be written between events.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration

	mu sync.Mutex
	// begun says that the headers are final: something was written, or only a stream can follow.
	begun bool
}

// begin says that the answer is a stream, whose first event may take long.
func (s *stream) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
}

// WriteHeader implements [http.ResponseWriter].
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
	s.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
	return s.write(p)
}

// write is called with the lock held.
func (s *stream) write(p []byte) (int, error) {
	_ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) // Not all connections have deadlines.
	defer func() { _ = s.control.SetWriteDeadline(time.Time{}) }()
	return s.ResponseWriter.Write(p)
}

// Flush implements [http.Flusher].
func (s *stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
}

// flush is called with the lock held. What was written is often sent here only.
func (s *stream) flush() {
	_ = s.control.SetWriteDeadline(time.Now().Add(s.timeout)) // Not all connections have deadlines.
	defer func() { _ = s.control.SetWriteDeadline(time.Time{}) }()
	_ = s.control.Flush() // Without support for flushing, nothing happens.
}

// Unwrap is for [http.ResponseController], of which only what this type has itself is used.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// alive writes a comment into an answer that is a stream, so that no proxy takes it for dead.
func (s *stream) alive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun || !strings.HasPrefix(s.Header().Get("Content-Type"), "text/event-stream") {
		return
	}
	if _, err := s.write([]byte(": alive\n\n")); err == nil {
		s.flush()
	}
}
