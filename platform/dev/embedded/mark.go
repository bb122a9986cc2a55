package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// mark is what a server says of itself in postmaster.pid.
type mark struct {
	pid   int  // 0 where there is no server.
	ready bool // Its port is bound, and it accepts connections.
}

// statusLine is the line of postmaster.pid, counted from 0, that says how far
// the server is.
const statusLine = 7

func (h clusterHome) mark() (mark, error) {
	raw, err := h.read(markFile)
	if errors.Is(err, fs.ErrNotExist) {
		return mark{}, nil
	}
	if err != nil {
		return mark{}, fmt.Errorf("reading the server's mark: %w", err)
	}
	lines := strings.Split(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 0 { // Signals to such numbers go to many.
		return mark{}, nil //nolint:nilerr // A truncated mark names no process.
	}
	return mark{pid: pid, ready: len(lines) > statusLine && strings.TrimSpace(lines[statusLine]) == "ready"}, nil
}
