package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Bounds of the state of a run.
const (
	MaxStateKey   = 128       // Bytes of a key.
	MaxStateValue = 16 << 10  // Bytes of a value, as JSON.
	MaxStateKeys  = 128       // Keys of a run, deleted ones included.
	MaxState      = 256 << 10 // Bytes of all values of a run.
)

// RunState is a small store of JSON values that the calls of a run share: what one tool sets,
// the run's other tools get. It lives as long as the run's record.
//
// A change is kept at once, whatever becomes of the call that makes it. Calls that are
// repeated make theirs once: an attempt does not see what attempts of the same call before it
// changed, and its own changes replace theirs. Only the latest attempt of a call that has not
// ended changes anything. Where calls run side by side, [RunState.CompareAndSet] keeps one
// from losing what the other set. Pure tools read only.
//
// Get one with [State]. It is safe for concurrent use.
type RunState struct{ store StateStore }

// StateStore keeps the state of a run for one attempt of one call. Hosts implement it in tests
// only; package toolcribtest has one.
type StateStore interface {
	// ReadState returns the value of a key; the zero value where it has none.
	ReadState(ctx context.Context, key string) (StateValue, error)
	// WriteState makes a change and returns the new value. It fails with [Conflict] where the
	// key's revision is not the one of change.If, where the attempt is not the latest, or where
	// its call has ended, and with [Invalid] where the run's state would be too large.
	WriteState(ctx context.Context, change StateChange) (StateValue, error)
}

// StateValue is the value of a key.
type StateValue struct {
	Value    json.RawMessage // Nil where the key has no value.
	Revision int64           // Counts the changes of the key; 0 before the first.
}

// Decode unmarshals the value into v, if there is one, and reports whether there was.
func (s StateValue) Decode(v any) (found bool, err error) {
	if s.Value == nil {
		return false, nil
	}
	if err := json.Unmarshal(s.Value, v); err != nil {
		return true, &Error{
			Kind: InternalError, Op: "tool.StateValue.Decode", Msg: "the value does not fit the type", Err: err,
		}
	}
	return true, nil
}

// StateChange is a change of one key.
type StateChange struct {
	Key   string
	Value json.RawMessage // Nil to delete the key's value.
	If    *int64          // The revision that the key must have; nil for any.
}

type stateKey struct{}

// WithState returns a context whose calls have their state in store.
func WithState(ctx context.Context, store StateStore) context.Context {
	return context.WithValue(ctx, stateKey{}, store)
}

// State returns the state of the run that the call of ctx belongs to. It is never nil; where a
// function is called directly, as in its own tests, its methods fail with [Conflict] unless
// the context is one of [WithState].
func State(ctx context.Context) *RunState {
	store, _ := ctx.Value(stateKey{}).(StateStore)
	return &RunState{store}
}

// Get returns the value of a key; one without a value where it was never set, or deleted.
func (s *RunState) Get(ctx context.Context, key string) (StateValue, error) {
	if err := s.check(key); err != nil {
		return StateValue{}, err
	}
	return s.store.ReadState(ctx, key)
}

// Set sets the value of a key, marshalled to JSON. A nil value is JSON's null.
func (s *RunState) Set(ctx context.Context, key string, value any) (StateValue, error) {
	return s.write(ctx, StateChange{Key: key}, value)
}

// CompareAndSet sets the value of a key if its revision is still the given one, 0 for a key
// that was never set, and fails with [Conflict] where it is not.
func (s *RunState) CompareAndSet(ctx context.Context, key string, revision int64, value any) (StateValue, error) {
	return s.write(ctx, StateChange{Key: key, If: &revision}, value)
}

// Delete deletes the value of a key. It is no error that there is none.
func (s *RunState) Delete(ctx context.Context, key string) error {
	if err := s.check(key); err != nil {
		return err
	}
	_, err := s.store.WriteState(ctx, StateChange{Key: key})
	return err
}

func (s *RunState) write(ctx context.Context, change StateChange, value any) (StateValue, error) {
	if err := s.check(change.Key); err != nil {
		return StateValue{}, err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return StateValue{}, invalidState("the value of %q cannot be written as JSON: %v", change.Key, err)
	}
	if len(raw) > MaxStateValue {
		return StateValue{}, invalidState("the value of %q has %d bytes; a value has at most %d: keep a reference to it",
			change.Key, len(raw), MaxStateValue)
	}
	change.Value = raw
	return s.store.WriteState(ctx, change)
}

func (s *RunState) check(key string) error {
	switch {
	case s.store == nil:
		return &Error{
			Kind: Conflict, Op: "tool.State",
			Msg: "this call has no state of a run: in a test, use a context of tool.WithState",
		}
	case key == "" || len(key) > MaxStateKey:
		return invalidState("a key of the state has 1 to %d bytes", MaxStateKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return invalidState("the key %q of the state has characters other than ASCII letters, digits and signs", key)
	}
	return nil
}

func invalidState(format string, args ...any) *Error {
	return &Error{Kind: Invalid, Op: "tool.State", Msg: fmt.Sprintf(format, args...)}
}
