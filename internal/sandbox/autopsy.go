package sandbox

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// What Go's runtime says at last when there is no more memory, or when a stack is
// too large: how its lines begin. Nothing that a program made up begins a line:
// programs don't write to the error stream, and of a text with several lines that
// a panic prints, all but the first begin with a tab.
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

	// growStackLines begin what Go prints of a goroutine that has a command's
	// stack grow: such a stack lives in the heap, so that recursion without end
	// may run out of memory first.
	growStackLines = []string{
		"github.com/tetratelabs/wazero/internal/engine/wazevo.(*callEngine).growStack(",
		"github.com/tetratelabs/wazero/internal/engine/wazevo.(*callEngine).cloneStack(",
	}
)

// autopsy says of what a child died that was not killed by its pool.
func (c *child) autopsy(cause error) error {
	last := c.said.String()
	switch {
	case says(last, stackLines):
		return &ProgramError{Class: OverDepth, Msg: "the program recursed deeper than it may"}
	case says(last, memoryLines) && says(last, growStackLines):
		return &ProgramError{Class: OverDepth, Msg: "the program recursed deeper than its memory allows"}
	case says(last, memoryLines):
		return &ProgramError{Class: OverSpace, Msg: "the program used more memory than it may"}
	case signalled(c.cmd):
		return &tool.Error{Kind: tool.Unavailable, Op: "sandbox.Run", Msg: "the sandbox was killed from outside", Err: cause}
	case last != "":
		return &ProgramError{Class: Crashed, Msg: "the program brought its sandbox down"}
	default:
		return &tool.Error{Kind: tool.Unavailable, Op: "sandbox.Run", Msg: "the sandbox ended without a word", Err: cause}
	}
}

// says reports whether a line of text begins with one of these.
func says(text string, beginnings []string) bool {
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(line, b) }) {
			return true
		}
	}
	return false
}
