package agent

import "github.com/toolcrib/toolcrib/tool"

// CallEnd is the end of a run of kind [RunKindToolCall] or [RunKindToolTest], with the
// outcome of its call.
type CallEnd struct {
	Status  RunStatus // Of the run. If it is not final, nothing else is set.
	EndedBy string    // See [Run.EndedBy].
	Kind    tool.Kind // Of the run's failure.
	Msg     string    // Of the run's failure.

	InvocationID string // Empty if no call was recorded.
	CallStatus   tool.InvocationStatus
	Result       *tool.Result // Nil for a call that failed.
	CallKind     tool.Kind    // Of the call's failure.
	CallMsg      string       // Of the call's failure.
	// Acted says that the failed call may have had an effect that must not be
	// repeated.
	Acted bool
}
