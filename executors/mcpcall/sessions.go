package mcpcall

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// SessionKey says whose a session is: that of one run of one tenant with one
// server. No other ever uses it.
type SessionKey struct {
	Tenant tool.TenantID
	RunID  string
	Server string // See [remote.Server.Key].
}

// Session is what was agreed with a server, so that any worker can go on
// where another stopped.
type Session struct {
	// ID is the server's name for the session; empty for servers without. Who
	// has it can speak for us, so it is a secret.
	ID secret.Value
	// Protocol is the negotiated version.
	Protocol string
	// Handshake is the server's answer to initialize or server/discover.
	Handshake json.RawMessage
	// Server is where the session is, for ending it.
	Server remote.Server
	// CreatedAt is set by the store.
	CreatedAt time.Time
}

// Sessions keeps sessions. Implementations are safe for concurrent use and
// fail with a [*tool.Error].
type Sessions interface {
	// Load returns the session of a key; nil when there is none.
	Load(ctx context.Context, key SessionKey) (*Session, error)
	// Save keeps a session unless there is one already, and returns the one
	// that stands: of two workers that began one at a time, both go on with it.
	Save(ctx context.Context, key SessionKey, s *Session) (*Session, error)
	// Drop forgets the session of a key if it is still s.
	Drop(ctx context.Context, key SessionKey, s *Session) error
}

// maxMemorySessions bounds a [MemorySessions].
const maxMemorySessions = 10_000

// MemorySessions keeps sessions in the process, for programs of one worker.
// The zero value is ready. When it is full, it forgets all.
type MemorySessions struct {
	mu   sync.Mutex
	kept map[SessionKey]*Session
}

// Load implements [Sessions].
func (m *MemorySessions) Load(_ context.Context, key SessionKey) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[key], nil
}

// Save implements [Sessions].
func (m *MemorySessions) Save(_ context.Context, key SessionKey, s *Session) (*Session, error) {
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

// Drop implements [Sessions].
func (m *MemorySessions) Drop(_ context.Context, key SessionKey, s *Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if there := m.kept[key]; there != nil && there.ID.Equal(s.ID) && there.Protocol == s.Protocol {
		delete(m.kept, key)
	}
	return nil
}
