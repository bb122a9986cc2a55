package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// execute is the outcome of an executor that is shown a call: that of its first result, or of its
// watch if it gets no further.
func (s *shell) execute(t *testing.T, sub submission) outcome {
	t.Helper()
	ended := make(chan outcome, 100)
	through, stop := s.tap(t, ended)
	defer stop()
	c, err := client.New(client.Config{Server: through, Key: sub.key})
	require.NoError(t, err)
	defer c.Close()
	executor := &client.Executor{Client: c, Handlers: map[string]client.Handler{
		sub.slug: func(context.Context, v1.PendingCall) (any, error) {
			sub.before()
			if sub.isError {
				return nil, errors.New(strings.Trim(sub.result, `"`))
			}
			return json.RawMessage(sub.result), nil
		},
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- executor.Run(ctx) }()
	got := <-ended
	if got.problem != nil && got.problem.Code == tool.Invalid {
		<-ended // It answers with an error then.
	}
	cancel()
	if err := <-over; err != nil {
		require.NotNil(t, got.problem)
		require.Equal(t, got.problem.Code, tool.KindOf(err))
		require.ErrorContains(t, err, got.problem.Detail)
	}
	return got
}

// tap is a server in front of that of the shell, which tells of each result that is submitted, and of
// a watch that shows no call.
func (s *shell) tap(t *testing.T, ended chan<- outcome) (address string, stop func()) {
	t.Helper()
	target, err := url.Parse(s.vars[cli.ServerVariable])
	require.NoError(t, err)
	var shown atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	proxy.ModifyResponse = func(resp *http.Response) error {
		raw, err := io.ReadAll(resp.Body)
		resp.Body = io.NopCloser(bytes.NewReader(raw))
		if err != nil {
			return err
		}
		out := outcome{text: string(raw)}
		var open v1.OpenCalls
		switch {
		case resp.StatusCode >= http.StatusBadRequest:
			err = json.Unmarshal(raw, &out.problem)
		case resp.Request.Method == http.MethodGet:
			if err = json.Unmarshal(raw, &open); len(open.Items) > 0 {
				shown.Store(true)
			}
			if err != nil || shown.Load() {
				return err
			}
			out.unseen = true
		}
		ended <- out
		return err
	}
	server := httptest.NewServer(proxy)
	return server.URL, server.Close
}
