package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// What HTTP itself and the checks of a body refuse is a problem as any other,
// points at its place, and repeats no value.
func TestProblems(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const planted = "s3cr3t-value"
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		code               tool.Kind
		at                 string
	}{
		"no such endpoint": {http.MethodGet, "/v1/nothing", "", http.StatusNotFound, tool.NotFound, ""},
		"no such method":   {http.MethodDelete, "/v1/tools", "", http.StatusMethodNotAllowed, tool.NotFound, ""},
		"malformed JSON":   {http.MethodPost, "/v1/runs", `{"agent":`, http.StatusBadRequest, tool.Invalid, ""},
		"missing member":   {http.MethodPost, "/v1/runs", `{"agent":"x"}`, http.StatusUnprocessableEntity, tool.Invalid, ""},
		"unknown member": {
			http.MethodPost, "/v1/runs", `{"agent":"x","input":"y","` + planted + `":1}`, http.StatusUnprocessableEntity,
			tool.Invalid, "/" + planted,
		},
		"wrong type": {
			http.MethodPost, "/v1/runs", `{"agent":["` + planted + `"],"input":"y"}`, http.StatusUnprocessableEntity,
			tool.Invalid, "/agent",
		},
		"not one of": {
			http.MethodPost, "/v1/runs", `{"agent":"x","input":"y","mode":"` + planted + `"}`, http.StatusUnprocessableEntity,
			tool.Invalid, "/mode",
		},
		"unknown parameter": {
			http.MethodGet, "/v1/tools?colour=" + planted, "", http.StatusUnprocessableEntity, tool.Invalid, "colour",
		},
		"wrong parameter": {
			http.MethodGet, "/v1/tools?limit=" + planted, "", http.StatusUnprocessableEntity, tool.Invalid, "limit",
		},
		"bad cursor": {
			http.MethodGet, "/v1/tools?cursor=" + planted, "", http.StatusUnprocessableEntity, tool.Invalid, "cursor",
		},
		"empty input": {http.MethodPost, "/v1/runs", `{"agent":"x","input":null}`, http.StatusNotFound, tool.NotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.do(t, c.method, c.path, c.body)
			require.Equal(t, c.status, got.status, string(got.body))
			p := got.problem(t)
			require.Equal(t, c.code, p.Code)
			require.Equal(t, c.at, p.Path)
			require.NotEmpty(t, p.Detail)
			require.False(t, p.Retryable)
			if name != "unknown member" { // Which has to be named.
				require.NotContains(t, string(got.body), planted)
			}
		})
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxBodyBytes = 1000 })
	big := `{"agent":"x","input":"` + strings.Repeat("a", 2000) + `"}`
	got := b.do(t, http.MethodPost, "/v1/runs", big)
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status)
	require.Equal(t, tool.Invalid, got.problem(t).Code)
}

// Every request is logged, and no value in it.
func TestRequestLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.do(t, http.MethodGet, "/v1/tools?search=planted-word", "")
	line := b.log.String()
	require.Contains(t, line, `"route":"/v1/tools"`)
	require.Contains(t, line, `"status":200`)
	require.NotContains(t, line, "planted-word")
	require.NotContains(t, line, b.key)
}

func TestHealth(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, "/healthz", "", "").status)
	ready := b.do(t, http.MethodGet, "/readyz", "", "")
	require.Equal(t, http.StatusServiceUnavailable, ready.status)
	var health v1.Health
	ready.into(t, &health)
	states := make(map[string]string)
	for name, check := range health.Checks {
		states[name] = check.State
	}
	require.Equal(t, "unavailable", health.Status)
	require.Equal(t, map[string]string{"database": "ok", "schema": "ok", "writes": "ok", "temporal": "not answering"},
		states)
}
