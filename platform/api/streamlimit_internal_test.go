package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// However much there is to write at a time, a stream keeps little of it.
func TestStreamsKeepLittle(t *testing.T) {
	t.Parallel()
	kept := make(chan int, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		out := &eventWriter{w: w, rc: http.NewResponseController(w), timeout: time.Minute}
		large := passage{}
		for range 100 {
			large.frames = append(large.frames, frame{
				id: "1", eventType: "run.started", data: bytes.Repeat([]byte("x"), 32<<10),
			})
		}
		if out.passage(large) == nil {
			kept <- out.buf.Cap()
		}
		close(kept)
	}))
	t.Cleanup(server.Close)
	resp, err := server.Client().Get(server.URL)
	require.NoError(t, err)
	defer resp.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 100, bytes.Count(body.Bytes(), []byte("event: run.started\n")))
	room, ok := <-kept
	require.True(t, ok)
	require.Less(t, room, 512<<10)
}
