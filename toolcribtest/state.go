package toolcribtest

import (
	"context"
	"fmt"
	"sync"

	"github.com/toolcrib/toolcrib/tool"
)

// State is the state of a run, in memory, for tests of functions that use [tool.State]:
//
//	ctx := tool.WithState(t.Context(), new(toolcribtest.State))
//
// It is one attempt of one call, which never ends. The zero value is empty and ready to use. It
// is safe for concurrent use.
type State struct {
	mu     sync.Mutex
	values map[string]tool.StateValue
}

// ReadState implements [tool.StateStore].
func (s *State) ReadState(_ context.Context, key string) (tool.StateValue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key], nil
}

// WriteState implements [tool.StateStore].
func (s *State) WriteState(_ context.Context, change tool.StateChange) (tool.StateValue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes, keys := len(change.Value), 1
	for key, v := range s.values {
		if key != change.Key {
			bytes, keys = bytes+len(v.Value), keys+1
		}
	}
	switch {
	case change.If != nil && *change.If != s.values[change.Key].Revision:
		return refuseState(tool.Conflict, "the value of %q was changed meanwhile: get it again", change.Key)
	case keys > tool.MaxStateKeys:
		return refuseState(tool.Invalid, "the state of a run has at most %d keys, deleted ones included", tool.MaxStateKeys)
	case bytes > tool.MaxState:
		return refuseState(tool.Invalid, "the state of a run has at most %d KiB", tool.MaxState>>10)
	}
	if s.values == nil {
		s.values = make(map[string]tool.StateValue)
	}
	s.values[change.Key] = tool.StateValue{Value: change.Value, Revision: s.values[change.Key].Revision + 1}
	return s.values[change.Key], nil
}

func refuseState(kind tool.Kind, format string, args ...any) (tool.StateValue, error) {
	return tool.StateValue{}, &tool.Error{Kind: kind, Op: "toolcribtest", Msg: fmt.Sprintf(format, args...)}
}
