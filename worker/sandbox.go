package worker

import (
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// SandboxLimits are the maximum limits of programs in the sandbox. A zero field
// takes the largest allowed value.
type SandboxLimits struct {
	Time    time.Duration // Of a run; at most 30 s.
	Memory  int64         // Of a child process, in bytes; 224 MiB to 1 GiB.
	Output  int64         // Maximum size of a result, and of printed output, in bytes; at most 8 MiB.
	Program int           // Maximum size of a program, in bytes, besides the limit of its language.
	// Children is how many children run calls in parallel; twice the number of
	// processors by default, at most 256. Two more compile programs when they
	// are published.
	Children int
}

// maxChildren bounds the processes that a worker starts.
const maxChildren = 256

func (l SandboxLimits) limits() sandbox.Limits {
	return sandbox.Limits{Time: l.Time, Memory: l.Memory, Output: l.Output}
}

// Validate refuses limits that could not be enforced.
func (l SandboxLimits) Validate() error {
	most := sandbox.MaxLimits
	for _, f := range []struct {
		name               string
		value, least, most int64
	}{
		{"Time", int64(l.Time), int64(time.Millisecond), int64(most.Time)},
		{"Memory", l.Memory, sandbox.MinMemory, most.Memory},
		{"Output", l.Output, 1, most.Output},
		{"Program", int64(l.Program), 1, int64(sandbox.WASM.MaxProgram())},
		{"Children", int64(l.Children), 1, maxChildren},
	} {
		if f.value != 0 && (f.value < f.least || f.value > f.most) {
			return fmt.Errorf("%s is %d: want %d to %d, or 0 for the default", f.name, f.value, f.least, f.most)
		}
	}
	return nil
}
