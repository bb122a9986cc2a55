package sandbox

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Prefixes of the lines that Go's runtime prints when it is out of memory, or when a stack
// is too large. Programs cannot forge them: they do not write to the error stream, and all
// but the first line of a panic's text begin with a tab.
var (
	memoryLines = []string{
		"fatal error: out of memory",
		"fatal error: runtime: out of memory",
		"fatal error: runtime: cannot allocate memory",
		"fatal error: runtime: cannot map pages",
		"fatal error: pageAlloc: out of memory",
		"fatal error: remapping stack memory failed",
		"fatal error: newosproc",
		"fatal error: runtime.newosproc",
		"runtime/cgo: pthread_create failed", // No memory for its stack.
	}
	stackLines = []string{"fatal error: stack overflow"}

	// growStackLines are prefixes of Go's trace of a goroutine that grows a command's
	// stack: such a stack is on the heap, so that infinite recursion may run out of
	// memory first.
	growStackLines = []string{
		"github.com/tetratelabs/wazero/internal/engine/wazevo.(*callEngine).growStack(",
		"github.com/tetratelabs/wazero/internal/engine/wazevo.(*callEngine).cloneStack(",
	}
)

// autopsy returns why a child died that its pool has not killed.
func (c *child) autopsy(cause error) error {
	last := c.said.String()
	switch {
	case says(last, stackLines):
		return &ProgramError{Class: OverDepth, Msg: "the program exceeded the recursion limit"}
	case says(last, memoryLines) && says(last, growStackLines):
		return &ProgramError{Class: OverDepth, Msg: "the program's recursion exceeded its memory limit"}
	case says(last, memoryLines):
		return &ProgramError{Class: OverSpace, Msg: "the program exceeded its memory limit"}
	case signalled(c.cmd):
		return &tool.Error{
			Kind: tool.Unavailable, Op: "sandbox.Run", Msg: "the sandbox was killed by another process", Err: cause,
		}
	case last != "":
		return &ProgramError{Class: Crashed, Msg: "the program crashed its sandbox"}
	default:
		return &tool.Error{
			Kind: tool.Unavailable, Op: "sandbox.Run", Msg: "the sandbox exited without an error message", Err: cause,
		}
	}
}

// says reports whether a line of text begins with one of the prefixes.
func says(text string, beginnings []string) bool {
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(line, b) }) {
			return true
		}
	}
	return false
}
