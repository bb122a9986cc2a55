package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// What HTTP has a status for is refused with it, and with a problem.
func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxBodyBytes = 1000 })
	exact := `{"agent":"x","input":"` + strings.Repeat("a", 1000-len(`{"agent":"x","input":""}`)) + `"}`
	require.Len(t, exact, 1000)
	for name, c := range map[string]struct {
		method, path, body string
		header             map[string]string
		status             int
		problem            string
		detail             string
	}{
		"path":   {http.MethodGet, "/v2/tools", "", nil, 404, v1.NoSuchEndpoint, "/openapi.json"},
		"method": {http.MethodPatch, "/v1/tools/say", "", nil, 405, v1.MethodNotAllowed, "GET, HEAD, PUT"},
		"no JSON": {
			http.MethodPost, "/v1/runs", "{\n \"agent\": \"ä\" 1}", nil, 400, v1.MalformedJSON, "line 2, column 15",
		},
		"JSON breaks off": {http.MethodPost, "/v1/runs", `{"agent":`, nil, 400, v1.MalformedJSON, "line 1, column 10"},
		"a duplicate": {
			http.MethodPost, "/v1/tools/say/call", `{"arguments":{"to":"attacker","to":"allowed"}}`, nil, 400, v1.MalformedJSON,
			`"/arguments/to", line 1, column 31: duplicate member`,
		},
		"NUL": {
			http.MethodPost, "/v1/tools/say/call", `{"arguments":{"to":"\u0000"}}`, nil, 400, v1.MalformedJSON, "NUL",
		},
		"half a pair": {
			http.MethodPost, "/v1/tools/say/call", `{"arguments":{"to":"\ud800"}}`, nil, 400, v1.MalformedJSON, "surrogate",
		},
		"out of range": {
			http.MethodPost, "/v1/tools/say/call", `{"arguments":{"n":1e400}}`, nil, 400, v1.MalformedJSON, "out of range",
		},
		"two values": {http.MethodPost, "/v1/tools", `{} {}`, nil, 400, v1.MalformedJSON, "line 1, column 4"},
		"deep":       {http.MethodPost, "/v1/runs", strings.Repeat("[", 900), nil, 400, v1.MalformedJSON, "column 901"},
		"no body":    {http.MethodPost, "/v1/runs", "", nil, 400, v1.MalformedRequest, "required"},
		"XML": {
			http.MethodPost, "/v1/runs", "<a/>",
			map[string]string{"Content-Type": "text/xml"},
			415, v1.UnsupportedMediaType,
			"application/json",
		},
		"no media type": {
			http.MethodPost, "/v1/runs", "{}",
			map[string]string{"Content-Type": "what"},
			415, v1.UnsupportedMediaType,
			"application/json",
		},
		"wants XML": {
			http.MethodGet, "/v1/tools", "",
			map[string]string{"Accept": "text/xml, application/json;q=0"},
			406,
			v1.NotAcceptable, "application/json",
		},
		"large":         {http.MethodPost, "/v1/runs", exact + " ", nil, 413, v1.BodyTooLarge, "1000"},
		"not too large": {http.MethodPost, "/v1/runs", exact, nil, 404, "not_found", ""},
		"long URI": {
			http.MethodGet, "/v1/tools?search=" + strings.Repeat("a", api.MaxURIBytes), "", nil, 414, v1.URITooLong, "8192",
		},
		"long headers": {
			http.MethodGet, "/v1/tools", "",
			map[string]string{"X-Long": strings.Repeat("a", api.MaxHeaderBytes)},
			431,
			v1.HeadersTooLarge, "65536",
		},
		"no key": {
			http.MethodGet, "/v1/tools", "", map[string]string{"Authorization": "Basic x"}, 401, v1.Unauthenticated, "Bearer",
		},
		"unknown member": {
			http.MethodPost, "/v1/runs", `{"agent":"x","input":"y","verson":"1"}`, nil, 422, "invalid", "did you mean version?",
		},
		"another case": {http.MethodPost, "/v1/runs", `{"AGENT":"x","input":"y"}`, nil, 422, "invalid", ""},
		"both cases": {
			http.MethodPost, "/v1/runs", `{"agent":"x","input":"y","Agent":"` + strings.Repeat("z", 500) + `"}`, nil, 422,
			"invalid", "/Agent",
		},
		"huge number": {
			http.MethodPost, "/v1/runs", `{"agent":"x","input":1e400}`, nil, 400, v1.MalformedJSON,
			"\"/input\", line 1, column 22: a number out of range",
		},
		"unknown query": {http.MethodGet, "/v1/tools?serch=x", "", nil, 422, "invalid", "did you mean search?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.send(t, c.method, c.path, c.body, c.header)
			require.Equal(t, c.status, got.status, string(got.body))
			p := got.problem(t)
			require.Equal(t, v1.ProblemsPath+"/"+c.problem, p.Type)
			require.Contains(t, p.Detail, c.detail)
		})
	}
	require.Equal(t, "GET, HEAD, PUT, DELETE", b.do(t, http.MethodPatch, "/v1/tools/say", "").header.Get("Allow"))
	require.Equal(
		t, http.StatusOK,
		b.send(t, http.MethodGet, "/v1/tools", "", map[string]string{"Accept": "text/html, */*;q=0.1"}).status,
	)
	require.Equal(
		t, http.StatusOK, b.send(t, http.MethodGet, "/v1/tools", "", map[string]string{"Accept": "application/*"}).status,
	)
	require.Equal(t, http.StatusNotFound, b.send(t, http.MethodPost, "/v1/runs", `{"agent":"x","input":"y"}`,
		map[string]string{"Content-Type": "application/json; charset=utf-8"}).status)
}

// What need not be there may be null, as clients of many languages write it; a
// null is never taken for a value.
func TestNullMembers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"of a key": {
			"/v1/keys", `{"name":"ci","permissions":["tools.read"],"scopes":null,"expires_at":null}`, http.StatusCreated,
		},
		"of a tool": {
			"/v1/tools", `{"slug":"say","implementation_type":"internal","description":null,"execution":null}`,
			http.StatusCreated,
		},
		"of a batch":         {"/v1/apply", `{"dry_run":null,"definitions":[` + echo("note") + `]}`, http.StatusOK},
		"needed for a key":   {"/v1/keys", `{"name":null,"permissions":["tools.read"]}`, http.StatusUnprocessableEntity},
		"needed for a run":   {"/v1/runs", `{"agent":null,"input":"x"}`, http.StatusUnprocessableEntity},
		"needed for a batch": {"/v1/apply", `{"definitions":null}`, http.StatusUnprocessableEntity},
		"needed for a tool": {
			"/v1/tools", `{"slug":null,"implementation_type":"internal"}`, http.StatusUnprocessableEntity,
		},
		"needed for what it may":  {"/v1/keys", `{"name":"ci","permissions":null}`, http.StatusUnprocessableEntity},
		"in the place of a whole": {"/v1/keys", `null`, http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.do(t, http.MethodPost, c.path, c.body)
			require.Equal(t, c.status, got.status, string(got.body))
		})
	}
}

// Without a length the limit of a body holds all the same.
func TestBodyOfUnknownLength(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxBodyBytes = 1000 })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/runs",
		strings.NewReader(strings.Repeat(" ", 2000)))
	r.ContentLength = -1
	r.Header.Set("Authorization", "Bearer "+b.key)
	w := httptest.NewRecorder()
	b.server.ServeHTTP(w, r)
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
}

// A body that breaks off is the caller's fault, not ours.
func TestBodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/runs", brokenReader{})
	r.Header.Set("Authorization", "Bearer "+b.key)
	w := httptest.NewRecorder()
	b.server.ServeHTTP(w, r)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), v1.MalformedRequest)
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, http.ErrBodyReadAfterClose }

// Nothing that a caller may send anywhere is taken for a failure of ours, and
// every refusal is a listed problem.
func TestBadInputIsNeverOurFault(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.apply(t, echo("say"), desk("desk", `["say"]`))
	names := []string{
		"say", "desk", "%00", "%ff%fe", "..%2f..%2fetc", "%F0%9F%92%A9", strings.Repeat("a", 65), strings.Repeat("a", 4000),
		"'%20or%201=1--",
		"01975c2e-7d1a-7c3e-9f00-000000000001", "00000000-0000-0000-0000-000000000000", "@", "say@", "a%0d%0aX:y",
	}
	queries := []string{
		"", "?new_version=%00", "?cursor=%00", "?cursor=AAAA&limit=200", "?limit=-1", "?limit=99999999999999999999",
		"?skip=10000&limit=200",
		"?search=%ff%00%25", "?since=0000-00-00", "?since=9999-12-31T23:59:59Z&until=0001-01-01T00:00:00Z",
		"?after=9223372036854775807",
		"?version=%00", "?mode=debug&version=%5E%5E", "?tool=%ff&run=x&agent=%00", "?a=b&a=c&%ff=%", "?kind=%00",
	}
	bodies := []string{
		"", "null", "[]", `""`, "{}", "1e999", `{"a":1e999}`, `{"slug":"\u0000"}`,
		`{"slug":"\ud800","implementation_type":"internal"}`,
		`{"agent":"desk","input":null}`, `{"agent":"\u0000","input":"x"}`, `{"name":"\u0000","permissions":["\u0000"]}`,
		`{"arguments":"text","mode":"debug"}`, `{"arguments":[1e999],"id":"x"}`,
		`{"definitions":[null,1,"x",{},[],{"kind":"tool"}]}`,
		`{"slug":"q","implementation_type":"internal","input_schema":{"$ref":"#"},"description":"\u0000"}`,
		`{"slug":"r","implementation_type":"http","implementation_config":{"url":"::::"}}`, strings.Repeat("[", 20_000),
		`{"name":"n","permissions":["*"],"expires_at":"9999-12-31T23:59:59+23:59"}`, "\xff\xfe",
		`{"slug":"s","revision":-1,"implementation_type":"internal"}`,
	}
	check := func(method, path, body string) {
		got := b.do(t, method, path, body)
		if got.status == http.StatusServiceUnavailable && strings.Contains(string(got.body), "Temporal") {
			return // It is down here.
		}
		require.Less(t, got.status, http.StatusInternalServerError, "%s %s %.200s: %s", method, path, body, got.body)
		if got.status >= http.StatusBadRequest {
			got.problem(t)
		}
	}
	for _, op := range operations(t, b) {
		if op.path == "/readyz" || strings.HasSuffix(op.path, "/call") {
			continue // These ask Temporal, which is down here.
		}
		if op.path == "/v1/stream" {
			continue // It goes on; TestTopicsThatAreRefused asks it for what there is not.
		}
		for _, name := range names {
			check(op.method, fill(op.path, name), "")
		}
		for _, query := range queries {
			check(op.method, fill(op.path, "say")+query, "")
		}
		if op.method == http.MethodGet {
			continue
		}
		for _, body := range bodies {
			check(op.method, fill(op.path, "say"), body)
		}
	}
}
