package store

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
)

func messagesOf(ids ...string) []agent.Message {
	out := make([]agent.Message, len(ids))
	for i, id := range ids {
		out[i].ID = id
	}
	return out
}

func idsOf(messages []agent.Message) (ids []string) {
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// Extensions of one sequence do not see one another, nor what a caller appends to its view.
func TestSequenceForks(t *testing.T) {
	t.Parallel()

	begun := sequenceOf(messagesOf("a"))
	common := begun.with(messagesOf("b"))
	left, right := common.with(messagesOf("l1", "l2")), common.with(messagesOf("r1"))
	left = left.with(messagesOf("l3"))
	_ = append(right.view(), messagesOf("x")...)
	_ = append(left.view(), messagesOf("y")...)
	right = right.with(messagesOf("r2"))
	require.Equal(t, []string{"a"}, idsOf(begun.view()))
	require.Equal(t, []string{"a", "b"}, idsOf(common.view()))
	require.Equal(t, []string{"a", "b", "l1", "l2", "l3"}, idsOf(left.view()))
	require.Equal(t, []string{"a", "b", "r1", "r2"}, idsOf(right.view()))
}

// A sequence of many messages is copied rarely: the allocated places are a small multiple of them.
func TestSequenceIsNotCopied(t *testing.T) {
	t.Parallel()

	const n = 20_000
	s, places, last := sequenceOf(nil), 0, 0
	for i := range n {
		s = s.with(messagesOf(strconv.Itoa(i)))
		if cap(s.messages) != last {
			last = cap(s.messages)
			places += last
		}
	}
	require.Len(t, s.view(), n)
	require.Less(t, places, 8*n)
}
