package modeltest

import (
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// streams tests when text is passed on, and that half a stream is no answer.
func (p Provider) streams(t *testing.T) {
	t.Parallel()
	t.Run("Slow", p.slow)
	t.Run("CancelledInTheMiddle", p.cancelledInTheMiddle)
	t.Run("CutOff", p.cutOff)
	t.Run("EndsEarly", p.endsEarly)
	t.Run("ErrorEvent", p.errorEvent)
	t.Run("NoStream", p.noStream)
	t.Run("WentSilent", p.wentSilent)
	t.Run("SlowToBegin", p.slowToBegin)
	t.Run("KeptAlive", p.keptAlive)
	t.Run("Texts", p.texts)
	t.Run("ByteByByte", p.byteByByte)
}

// Text is passed on as it arrives: the server sends the next event once the
// previous one was received.
func (p Provider) slow(t *testing.T) {
	t.Parallel()

	m := Load(t, "text").Stream
	heard := make(chan string, len(m.Events()))
	server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), m.Header)
		for _, event := range m.Events() {
			_, _ = io.WriteString(w, event)
			flush(w)
			if !strings.Contains(event, `"How can I help?"`) && !strings.Contains(event, `"I am "`) {
				continue
			}
			select {
			case <-heard:
			case <-r.Context().Done():
				return
			}
		}
	})
	req := simple()
	req.Stream = func(d agent.Delta) {
		if strings.HasPrefix(d.Text, "How can") || strings.HasPrefix(d.Text, "I am ") {
			heard <- d.Text
		}
	}
	got, err := p.open(t, server.URL).Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, Basic()[0].Want.Text, got.Text)
}

func (p Provider) cancelledInTheMiddle(t *testing.T) {
	t.Parallel()

	m := Load(t, "text").Stream
	over := make(chan struct{})
	server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), m.Header)
		for _, event := range m.Events()[:len(m.Events())/2] {
			_, _ = io.WriteString(w, event)
		}
		flush(w)
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	t.Cleanup(func() { close(over) })
	ctx, cancel := context.WithCancel(t.Context())
	req := simple()
	req.Stream = func(agent.Delta) { cancel() }
	_, err := p.open(t, server.URL).Generate(ctx, req)
	require.Equal(t, tool.Cancelled, tool.KindOf(err), "%v", err)
	require.ErrorIs(t, err, context.Canceled)
}

// A stream that goes without a byte for too long ends as a timeout, before its
// first event and in the middle; the time of the whole answer is not over.
func (p Provider) wentSilent(t *testing.T) {
	t.Parallel()

	m := Load(t, "text").Stream
	over := make(chan struct{})
	for sent := range len(m.Events()) / 2 {
		server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
			maps.Copy(w.Header(), m.Header)
			_, _ = io.WriteString(w, strings.Join(m.Events()[:sent], ""))
			flush(w)
			select {
			case <-r.Context().Done():
			case <-over:
			}
		})
		req := simple()
		req.Stream = func(agent.Delta) {}
		model := p.open(t, server.URL, func(c *remote.Config) { c.IdleTimeout = 50 * time.Millisecond })
		_, err := model.Generate(t.Context(), req)
		require.Equal(t, tool.Timeout, tool.KindOf(err), "after %d events: %v", sent, err)
		require.ErrorContains(t, err, "its stream was idle: no byte in 50ms")
		require.True(t, tool.AsError(err).Retryable())
	}
	t.Cleanup(func() { close(over) })
}

// Some servers are silent while they read a long prompt: until the header of the
// answer is there, only the total time counts.
func (p Provider) slowToBegin(t *testing.T) {
	t.Parallel()

	const idle = 50 * time.Millisecond
	m := Load(t, "text").Stream
	server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(4 * idle):
		}
		m.write(w)
	})
	req := simple()
	req.Stream = func(agent.Delta) {}
	got, err := p.open(t, server.URL, func(c *remote.Config) { c.IdleTimeout = idle }).Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, Basic()[0].Want.Text, got.Text)

	silent := Serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	model := p.open(t, silent.URL, func(c *remote.Config) { c.IdleTimeout, c.Timeout = idle, 4*idle })
	_, err = model.Generate(t.Context(), req)
	require.Equal(t, tool.Timeout, tool.KindOf(err), err)
	require.ErrorContains(t, err, "it did not answer in time")
}

// A stream that says anything at all, a comment too, is not silent, however
// long it takes.
func (p Provider) keptAlive(t *testing.T) {
	t.Parallel()

	const idle = time.Second
	m := Load(t, "text").Stream
	server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), m.Header)
		tick := time.NewTicker(idle / 20)
		defer tick.Stop()
		for over := time.After(idle + idle/4); ; {
			select {
			case <-tick.C:
				_, _ = io.WriteString(w, ": still here\n\n")
				flush(w)
				continue
			case <-r.Context().Done():
				return
			case <-over:
			}
			break
		}
		_, _ = io.WriteString(w, m.Body)
	})
	req := simple()
	req.Stream = func(agent.Delta) {}
	got, err := p.open(t, server.URL, func(c *remote.Config) { c.IdleTimeout = idle }).Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, Basic()[0].Want.Text, got.Text)
}

// Wherever a connection breaks, the answer is none.
func (p Provider) cutOff(t *testing.T) {
	t.Parallel()

	m := Load(t, "call").Stream
	for n := range m.Events() {
		server := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			part := m
			part.Body = strings.Join(m.Events()[:n], "")
			part.write(w)
			panic(http.ErrAbortHandler)
		})
		req := simple()
		req.Stream = func(agent.Delta) {}
		_, err := p.open(t, server.URL).Generate(t.Context(), req)
		require.Equal(t, tool.Unavailable, tool.KindOf(err), "after %d events: %v", n, err)
	}
}

// A stream that ends in good order, but too early, is no answer either.
func (p Provider) endsEarly(t *testing.T) {
	t.Parallel()

	m := Load(t, "call").Stream
	for n := range len(m.Events()) / 2 {
		part := m
		part.Body = strings.Join(m.Events()[:n], "")
		req := simple()
		req.Stream = func(agent.Delta) {}
		_, err := p.open(t, Serve(t, Answer(part)).URL).Generate(t.Context(), req)
		require.Equal(t, tool.Unavailable, tool.KindOf(err), "after %d events: %v", n, err)
		require.ErrorContains(t, err, "ended before")
	}
}

// An error in the middle of a stream means what it means as a status.
func (p Provider) errorEvent(t *testing.T) {
	t.Parallel()

	m := Load(t, "text").Stream
	for kind, want := range map[string]tool.Kind{
		"overloaded_error": tool.RateLimited, "rate_limit_error": tool.RateLimited, "api_error": tool.Unavailable,
		"invalid_request_error": tool.Invalid, "authentication_error": tool.Denied, "something_new": tool.Unavailable,
	} {
		part := m
		part.Body = strings.Join(m.Events()[:2], "") + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"" +
			kind + "\",\"message\":\"with " + theKey + "\"}}\n\n"
		req := simple()
		req.Stream = func(agent.Delta) {}
		_, err := p.open(t, Serve(t, Answer(part)).URL).Generate(t.Context(), req)
		require.Equal(t, want, tool.KindOf(err), "%s: %v", kind, err)
		require.NotContains(t, err.Error(), theKey)
	}
}

// A server that can't stream is said to be unable to.
func (p Provider) noStream(t *testing.T) {
	t.Parallel()

	req := simple()
	req.Stream = func(agent.Delta) {}
	_, err := p.open(t, Serve(t, Answer(Load(t, "text").Whole)).URL).Generate(t.Context(), req)
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.ErrorContains(t, err, "asked for an event stream")
}
