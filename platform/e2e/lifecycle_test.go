package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// get asks the panel for something.
func (p panel) get(t *testing.T, path string, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+p.key)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(out))
}

// Recorded calls of a pure tool are made again with its draft, as tests, and a canary of it is given to a share of
// the runs, which pin it.
func TestReplayAndCanary(t *testing.T) {
	t.Parallel()
	s, _ := panelSite(t)
	p := s.panel()
	call := func() {
		t.Helper()
		require.Equal(t, http.StatusOK, p.post(t, "/v1/tools/speak/call", `{"arguments":{"lines":1}}`).StatusCode)
	}
	for range 3 {
		call()
	}
	head, err := s.FindTool(t.Context(), s.principal.Tenant, tool.Ref{Slug: "speak"})
	require.NoError(t, err)
	head.Description, head.Version = "Says lines, loudly.", "1.1.0"
	_, err = s.UpdateTool(t.Context(), head)
	require.NoError(t, err)

	resp := p.post(t, "/v1/tools/speak/replays", `{"calls":10}`)
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	var r v1.Replay
	require.Eventually(t, func() bool {
		p.get(t, resp.Header.Get("Location"), &r)
		return r.Ended
	}, 2*time.Minute, 100*time.Millisecond)
	require.Equal(t, []int{3, 0, 0}, []int{r.Same, r.Different, r.Skipped}, "%+v", r.Calls)
	for _, c := range r.Calls {
		require.Equal(t, registry.ReplayLive, c.Way)
		run, err := s.FindRun(t.Context(), s.principal.Tenant, c.RunID)
		require.NoError(t, err)
		require.Equal(t, agent.RunKindToolTest, run.Kind)
		require.Equal(t, tool.Debug, run.Mode)
		require.Equal(t, r.Digest, run.Plan.Tools[0].Digest)
	}

	require.Equal(t, http.StatusCreated,
		p.post(t, "/v1/tools/speak/canary", `{"share":50,"until_calls":100,"max_error_percent":5}`).StatusCode)
	for range 16 {
		call()
	}
	made, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{Tool: "speak", Limit: 16})
	require.NoError(t, err)
	served := map[string]int{}
	for _, i := range made {
		served[i.Version]++
		run, err := s.FindRun(t.Context(), s.principal.Tenant, i.RunID)
		require.NoError(t, err)
		require.Equal(t, i.Version, run.Plan.Tools[0].Version)
	}
	require.Positive(t, served["1.0.0"], "%v", served)
	require.Positive(t, served["1.1.0"], "%v", served)

	_, err = s.JudgeCanariesOf(t.Context(), s.principal.Tenant, 0)
	require.NoError(t, err)
	var canaries v1.Page[v1.Canary]
	p.get(t, "/v1/tools/speak/canaries", &canaries)
	require.Equal(t, served["1.1.0"], canaries.Items[0].Calls)
	require.Equal(t, served["1.0.0"], canaries.Items[0].StableCalls)
	require.Zero(t, canaries.Items[0].Failures)
}
