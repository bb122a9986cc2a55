package store

import (
	"slices"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/agent"
)

// sequence is messages that are extended again and again without copying those there are, so that
// a turn costs the same however long its run is. Its first extension is made in place, in room that
// no other sequence uses; any other, as of a run that forks, is a copy. A sequence is immutable.
type sequence struct {
	messages []agent.Message // With room behind them.
	used     *atomic.Int64   // Places of their array that some sequence uses.
}

func sequenceOf(messages []agent.Message) sequence {
	s := sequence{messages: slices.Clip(messages), used: new(atomic.Int64)}
	s.used.Store(int64(len(messages)))
	return s
}

// with returns the sequence that ends with the added messages.
func (s sequence) with(added []agent.Message) sequence {
	before, after := len(s.messages), len(s.messages)+len(added)
	if after <= cap(s.messages) && s.used.CompareAndSwap(int64(before), int64(after)) {
		return sequence{messages: append(s.messages, added...), used: s.used}
	}
	messages := make([]agent.Message, 0, after+after/4+8)
	longer := sequence{messages: append(append(messages, s.messages...), added...), used: new(atomic.Int64)}
	longer.used.Store(int64(after))
	return longer
}

// view returns the messages, for callers that may append to them.
func (s sequence) view() []agent.Message { return slices.Clip(s.messages) }
