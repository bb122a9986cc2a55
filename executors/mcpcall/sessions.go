package mcpcall

import (
	"context"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/remote/session"
)

// SessionKey identifies a session.
type SessionKey = session.Key

// Session is the stored state of a session with a server.
type Session = session.Session

// Sessions stores sessions. Implementations are safe for concurrent use and fail
// with a [*tool.Error].
type Sessions interface {
	// LoadMCPSession returns the session of a key; nil when there is none.
	LoadMCPSession(ctx context.Context, key SessionKey) (*Session, error)
	// SaveMCPSession stores a session unless there is one already, and returns the
	// stored one, so that two workers that race use the same session.
	SaveMCPSession(ctx context.Context, key SessionKey, s *Session) (*Session, error)
	// DropMCPSession removes the session of a key if it is still s.
	DropMCPSession(ctx context.Context, key SessionKey, s *Session) error
}

// maxMemorySessions bounds a [MemorySessions].
const maxMemorySessions = 10_000

// MemorySessions stores sessions in memory, for programs with one worker. The zero
// value is ready to use. When it is full, it drops all sessions.
type MemorySessions struct {
	mu   sync.Mutex
	kept map[SessionKey]*Session
}

// LoadMCPSession implements [Sessions].
func (m *MemorySessions) LoadMCPSession(_ context.Context, key SessionKey) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[key], nil
}

// SaveMCPSession implements [Sessions].
func (m *MemorySessions) SaveMCPSession(_ context.Context, key SessionKey, s *Session) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if there := m.kept[key]; there != nil {
		return there, nil
	}
	if m.kept == nil || len(m.kept) >= maxMemorySessions {
		m.kept = make(map[SessionKey]*Session)
	}
	kept := *s
	kept.CreatedAt = time.Now()
	m.kept[key] = &kept
	return &kept, nil
}

// DropMCPSession implements [Sessions].
func (m *MemorySessions) DropMCPSession(_ context.Context, key SessionKey, s *Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if there := m.kept[key]; there != nil && there.ID.Equal(s.ID) && there.Protocol == s.Protocol {
		delete(m.kept, key)
	}
	return nil
}
