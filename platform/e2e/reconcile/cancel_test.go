package reconcile_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/serve"
)

// api serves the site's API and returns what asks it.
func (s *site) api() func(method, path string) (status int, body map[string]any) {
	s.t.Helper()
	handler, err := serve.Handler(s.t.Context(), serve.HandlerConfig{
		Store: s.Store, Temporal: s.temporal, Namespace: embedded.DefaultNamespace, TaskQueue: s.queue,
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(s.t, err)
	server := httptest.NewServer(handler)
	s.t.Cleanup(server.Close)
	key := s.Key(s.t, s.Tenant, "*")
	return func(method, path string) (status int, body map[string]any) {
		s.t.Helper()
		req, err := http.NewRequestWithContext(s.t.Context(), method, server.URL+path, nil)
		require.NoError(s.t, err)
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(s.t, err)
		defer resp.Body.Close()
		require.NoError(s.t, json.NewDecoder(resp.Body).Decode(&body))
		return resp.StatusCode, body
	}
}

// Cancelling a run whose workflow is over answers how the run is, and closes it.
func TestCancelOfAClosedWorkflow(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	ask := s.api()
	cancel := func(id string) (status int, body map[string]any) {
		return ask(http.MethodPost, "/v1/runs/"+id+"/cancel")
	}

	open, _ := s.started()
	status, body := cancel(open.ID)
	require.Equal(t, http.StatusAccepted, status)
	require.Equal(t, "running", body["status"], "its workflow will end it")
	s.terminate(open.WorkflowID, "the test is over")

	terminated, _ := s.started()
	s.terminate(terminated.WorkflowID, "by hand")
	status, body = cancel(terminated.ID)
	require.Equal(t, http.StatusAccepted, status)
	require.Equal(t, "cancelled", body["status"])
	require.Equal(t, agent.RunCancelled, s.find(terminated.ID).Status)
	data, _ := s.ending(terminated.ID, agent.EventRunCancelled)
	require.Equal(t, "workflow_terminated", data["reason"])
	status, _ = cancel(terminated.ID)
	require.Equal(t, http.StatusConflict, status)

	begun := s.recorded() // Its workflow was lost with Temporal's data.
	begun.Plan = &agent.Plan{AgentID: s.Agent.ID}
	_, err := s.Store.BeginRun(t.Context(), begun)
	require.NoError(t, err)
	status, body = cancel(begun.ID)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body["detail"], "failed already")
	require.Equal(t, agent.RunFailed, s.find(begun.ID).Status)
}

// A call whose outcome is unknown is shown with where to look for its effect,
// and is found by its status.
func TestUnknownCallsAreShownWithWhatToCheck(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	run, _ := s.started()
	sent, effect, _ := s.call(run, true)
	s.terminate(run.WorkflowID, "by hand")
	s.found(2)
	ask := s.api()
	status, body := ask(http.MethodGet, "/v1/invocations?status=unknown")
	require.Equal(t, http.StatusOK, status)
	require.Len(t, body["items"], 1)
	status, body = ask(http.MethodGet, "/v1/invocations/"+sent)
	require.Equal(t, http.StatusOK, status)
	check, ok := body["check"].(map[string]any)
	require.True(t, ok, body)
	require.Equal(t, effect, check["idempotency_key"])
	require.Equal(t, "api.example.com", check["host"])
	require.NotEmpty(t, check["arguments_digest"])
	require.NotEmpty(t, check["sent_after"])
	require.NotEmpty(t, check["advice"])
}
