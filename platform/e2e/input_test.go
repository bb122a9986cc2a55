package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/platform/inputpage"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// asksFor makes a model that makes one call with the given arguments.
func asksFor(slug, arguments string) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn > 1 {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		call := agent.Call{ID: "call_1", Name: slug, Arguments: json.RawMessage(arguments)}
		return &agent.ModelResponse{Calls: []agent.Call{call}}, nil
	})
}

// inputTool is the built-in's definition, published by the tenant.
func inputTool() tool.Definition {
	for _, s := range builtins.Described(nil).Specs() {
		if s.Key == "request_input" {
			return s.Definition
		}
	}
	panic("there is no built-in request_input")
}

// A run asks a person and waits; the answer of the page wakes it, at once.
func TestInputIsAnsweredOnItsPage(t *testing.T) {
	t.Parallel()

	c := newCounter(t)
	a := c.asked(inputTool(), map[string]agent.Model{"test": asksFor("ask", `{"title":"Hero","choose":{"options":[
		{"id":"bold","label":"Bold"},{"id":"calm","label":"Calm"}]}}`)})
	pages, err := inputpage.New(inputpage.Config{Calls: c.Store, Runs: c.runs})
	require.NoError(t, err)
	server := httptest.NewServer(pages)
	t.Cleanup(server.Close)
	run, w := c.run(a, "go")
	called := c.waiting(1)[0]
	require.Equal(t, wait.CallWaiting, called.Status)
	require.Equal(t, tool.Input, called.Implementation)
	require.WithinDuration(t, time.Now().Add(24*time.Hour), *called.AnswerBy, time.Hour)
	link, err := input.Link(&called, time.Now().Add(time.Minute))
	require.NoError(t, err)
	post := func() *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+link, strings.NewReader(
			url.Values{"choice": {"calm"}}.Encode()))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp
	}
	require.NoError(t, c.RevokeTokens(t.Context(), c.principal.Tenant, called.ID))
	require.Equal(t, http.StatusNotFound, post().StatusCode, "the link was revoked")
	called = c.waiting(1)[0]
	link, err = input.Link(&called, time.Now().Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, http.StatusSeeOther, post().StatusCode)
	out, err := c.wait(w)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)
	require.Len(t, c.answers(run.ID), 1)
	require.JSONEq(t, `[{"type":"json","json":{"kind":"input_request","view_id":"`+called.ID+`","answer":{"choice":"calm"}}}]`,
		c.answers(run.ID)[0])
	found, err := c.FindCall(t.Context(), c.principal.Tenant, called.ID)
	require.NoError(t, err)
	require.Equal(t, "page:"+called.ID, found.SubmittedBy)
}

// A request that asks for nothing, or for two things, is refused before anybody sees it; the
// model learns why.
func TestInputThatAsksForTwoThings(t *testing.T) {
	t.Parallel()

	c := newCounter(t)
	a := c.asked(inputTool(), map[string]agent.Model{"test": asksFor("ask",
		`{"title":"x","approve":{},"questions":[{"id":"a","label":"A"}]}`)})
	run, w := c.run(a, "go")
	out, err := c.wait(w)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)
	require.Contains(t, c.answers(run.ID)[0], "exactly one of questions, choose, markup and approve")
	_, err = c.FindCall(t.Context(), c.principal.Tenant, c.invocations(run.ID)[0].InvocationID)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}
