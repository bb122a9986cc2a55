package ports

import (
	"fmt"
	"time"
)

// lookTimeout bounds looking for a process.
const lookTimeout = 2 * time.Second

// Process is a process that listens on a port.
type Process struct {
	PID  int    // 0 if it is unknown, as for another user's process.
	Name string // Of its program; may be empty.
}

func (p Process) String() string {
	switch {
	case p.PID == 0:
		return "another process"
	case p.Name == "":
		return fmt.Sprintf("process %d", p.PID)
	default:
		return fmt.Sprintf("process %d (%s)", p.PID, p.Name)
	}
}
