package payload

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

const op = "payload"

// missing is the error for a payload whose key the process lacks. It is tool.Unavailable: a process
// with the key can decrypt it.
func missing(id string) *tool.Error {
	return &tool.Error{Kind: tool.Unavailable, Op: op, Msg: fmt.Sprintf(
		"the payload key %.40q is missing: put it in %s or %s of this process, after the first key", id, FileVariable,
		KeysVariable)}
}

func corrupt(cause error) error {
	return &tool.Error{
		Kind: tool.Invalid, Op: op, Err: cause,
		Msg: "an encrypted payload does not decrypt: it was changed, or its metadata were",
	}
}

// Functions of the SDK below which workflow code and the events of workflows are handled.
const (
	coroutine = "go.temporal.io/sdk/internal.(*coroutineState).run"
	events    = "go.temporal.io/sdk/internal.(*workflowExecutionEventHandlerImpl)."
)

// inWorkflowTask reports whether it is called, at any depth, in a workflow task of a worker. The SDK
// does not pass that to codecs and failure converters, and workflow code could take their error for an
// outcome. It reads the stack, which is slow: call it on errors alone.
func inWorkflowTask() bool {
	callers := make([]uintptr, 256)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if frame.Function == coroutine || strings.HasPrefix(frame.Function, events) {
			return true
		}
		if !more {
			return false
		}
	}
}
