package sandbox

import (
	"bytes"
	"sync"
)

// words is a writer that keeps the first bytes written to it: a crashing process prints the
// cause first.
type words struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *words) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := lastWords - t.buf.Len(); room > 0 {
		t.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *words) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
