package mcpserver

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is a session of a client of a revision that has sessions.
type session struct {
	id     string
	owner  string // See [Caller.owner].
	server *mcp.Server
	live   *mcp.ServerSession
	// closing is closed when the session begins to end: its calls are waited for no more, and go on.
	closing chan struct{}
	closed  sync.Once

	// The table's lock guards these.
	active int // Requests that are being served.
	used   time.Time
	idle   *time.Timer // Ends the session.
}

// name gives a session its id.
func (s *session) name() string {
	s.id = rand.Text()
	return s.id
}

// end closes the session, and returns when its requests have been answered.
func (s *session) end() {
	s.closed.Do(func() { close(s.closing) })
	if s.live != nil {
		_ = s.live.Close() // A broken connection has no use any more.
	}
}

// sessions is the table of the open sessions. It is safe for concurrent use.
type sessions struct {
	most int // Of one owner.
	idle time.Duration

	mu sync.Mutex
	of map[string]*session
}

func newSessions(most int, idle time.Duration) *sessions {
	return &sessions{most: most, idle: idle, of: map[string]*session{}}
}

// add adds a session, and reports false where its owner has too many that are all in use. One that is
// idle gives way.
func (t *sessions) add(s *session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	count, oldest := 0, (*session)(nil)
	for _, other := range t.of {
		if other.owner != s.owner {
			continue
		}
		count++
		if other.active == 0 && (oldest == nil || other.used.Before(oldest.used)) {
			oldest = other
		}
	}
	if count >= t.most {
		if oldest == nil {
			return false
		}
		t.drop(oldest)
		go oldest.end()
	}
	s.used = time.Now()
	s.idle = time.AfterFunc(t.idle, func() {
		if t.rested(s) {
			s.end()
		}
	})
	t.of[s.id] = s
	return true
}

// rested removes a session that has been idle for its time, and reports whether it was.
func (t *sessions) rested(s *session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.active > 0 || t.of[s.id] != s {
		return false
	}
	t.drop(s)
	return true
}

// enter returns the session with an id for a request of its owner, which ends with leave. It reports
// false where the owner has no such session.
func (t *sessions) enter(id, owner string) (s *session, leave func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s = t.of[id]
	if s == nil || s.owner != owner {
		return nil, nil, false
	}
	s.active++
	s.idle.Stop()
	return s, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		s.active--
		s.used = time.Now()
		if s.active == 0 && t.of[id] == s {
			s.idle.Reset(t.idle)
		}
	}, true
}

// remove removes a session that has ended.
func (t *sessions) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(s)
}

// drop removes a session from the table, with the lock held.
func (t *sessions) drop(s *session) {
	if t.of[s.id] != s {
		return
	}
	s.idle.Stop()
	delete(t.of, s.id)
}
