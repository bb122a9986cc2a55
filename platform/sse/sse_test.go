package sse_test

import (
	"bufio"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/sse"
)

func TestRead(t *testing.T) {
	t.Parallel()
	lines := 0
	var got []sse.Event
	const stream = "retry: 1500\nid: 0\n\n: alive\n\nid: 1\r\nevent: a\r\ndata: {\ndata:}\r\n\r\n" +
		"retry: soon\nother: x\ndata\n\nid: 2\nevent: cut"
	for e, err := range sse.Read(iotest.OneByteReader(strings.NewReader(stream)), 100, func() { lines++ }) {
		require.NoError(t, err)
		got = append(got, e)
	}
	require.Equal(t, []sse.Event{
		{ID: "0", Retry: 1500 * time.Millisecond},
		{Comment: "alive"},
		{ID: "1", Type: "a", Data: []byte("{\n}")},
		{},
	}, got[:4])
	require.Len(t, got, 4)
	require.Equal(t, 16, lines)
}

// An event is bounded, in one line and in many.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{
		"data: " + strings.Repeat("x", 200) + "\n\n", strings.Repeat("data: xxxxxxxxxx\n", 20) + "\n",
	} {
		var last error
		for _, err := range sse.Read(strings.NewReader(stream), 100, func() {}) {
			last = err
		}
		require.ErrorIs(t, last, bufio.ErrTooLong)
	}
	broken := errors.New("broken")
	for _, err := range sse.Read(iotest.ErrReader(broken), 100, func() {}) {
		require.ErrorIs(t, err, broken)
	}
}
