package api

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// deadlineWriter is a response that keeps what is written, and calls when it has a text.
type deadlineWriter struct {
	bytes.Buffer

	text string
	call func()
}

func (*deadlineWriter) Header() http.Header                { return http.Header{} }
func (*deadlineWriter) WriteHeader(int)                    {}
func (*deadlineWriter) SetWriteDeadline(_ time.Time) error { return nil }

func (w *deadlineWriter) Flush() {
	if bytes.Contains(w.Bytes(), []byte(w.text)) {
		w.call()
	}
}

// What was read of a topic before it ended is not written after that.
func TestNothingFollowsTheEndOfATopic(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &server{cfg: Config{Streams: StreamConfig{}.withDefaults()}}
	c := &connection{
		server: s, ctx: ctx, parcels: make(chan parcel, 2), check: make(chan struct{}, 1),
		of: map[string]*source{}, at: map[string]string{},
	}
	ended, follows := &source{topic: "runs", stop: func() {}}, &source{topic: "approvals", stop: func() {}}
	for _, src := range []*source{ended, follows} {
		c.of[src.topic], c.at[src.topic] = src, "1"
		c.parcels <- parcel{of: src, cursor: "2", frames: []frame{{eventType: "changes", data: []byte("of " + src.topic)}}}
	}
	c.end(ended)
	w := &deadlineWriter{text: "of approvals", call: cancel}
	out := &eventWriter{w: w, rc: http.NewResponseController(w), timeout: time.Minute}
	require.ErrorIs(t, c.write(out, nil), context.Canceled)
	require.NotContains(t, w.String(), "of runs")
	require.Contains(t, w.String(), "id: approvals@2\nevent: changes\ndata: of approvals\n")
}

// The first change of a list is sent at once, and those that follow soon are sent together.
func TestChangesOfListsAreGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		news := make(chan struct{})
		close(news)
		src := &source{lists: true}
		began := time.Now()
		require.True(t, src.sleep(t.Context(), news))
		require.Equal(t, began, time.Now())
		src.sent = began
		require.True(t, src.sleep(t.Context(), news))
		require.Equal(t, began.Add(gather), time.Now())
		src.lists = false
		require.True(t, src.sleep(t.Context(), news))
		require.Equal(t, began.Add(gather), time.Now(), "events of a run are not gathered")
	})
}
