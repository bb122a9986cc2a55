package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// bundle is a server on a database of its own, whose Temporal is down: package
// dev tests what needs one.
type bundle struct {
	*storetest.Database
	url    string
	tenant tool.TenantID
	key    string // May do anything in the tenant.
	log    *bytes.Buffer
}

func setup(t *testing.T, change ...func(*api.Config)) *bundle {
	t.Helper()
	b := &bundle{Database: storetest.NewDatabase(t), log: &bytes.Buffer{}}
	b.tenant = b.Tenant(t)
	b.key = b.Key(t, b.tenant, "*")
	temporal, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: discard{}})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	resolve := resolver.New(b.Store, resolver.Options{})
	cfg := api.Config{
		Store: b.Store, Resolver: resolve, Temporal: temporal, TaskQueue: "test", RequestTimeout: 5 * time.Second,
		Registry: registry.New(b.Store, registry.Options{Resolver: resolve}),
		Logger:   slog.New(slog.NewJSONHandler(b.log, nil)),
	}
	for _, fn := range change {
		fn(&cfg)
	}
	handler, err := api.New(cfg)
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

// discard drops what a Temporal client says.
type discard struct{}

func (discard) Debug(string, ...any) {}
func (discard) Info(string, ...any)  {}
func (discard) Warn(string, ...any)  {}
func (discard) Error(string, ...any) {}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) into(t *testing.T, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(a.body, v), string(a.body))
}

func (a answer) problem(t *testing.T) v1.Problem {
	t.Helper()
	require.Equal(t, v1.ProblemType, a.header.Get("Content-Type"), string(a.body))
	var p v1.Problem
	a.into(t, &p)
	require.Equal(t, a.status, p.Status)
	require.NotEmpty(t, p.TraceID)
	require.Equal(t, p.TraceID, a.header.Get(api.TraceHeader))
	return p
}

// do sends a request as the bundle's key does, or as another.
func (b *bundle) do(t *testing.T, method, path, body string, key ...string) answer {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = bytes.NewBufferString(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, b.url+path, reader)
	require.NoError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if len(key) == 0 {
		key = []string{b.key}
	}
	if key[0] != "" {
		req.Header.Set("Authorization", "Bearer "+key[0])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return answer{resp.StatusCode, resp.Header, raw}
}

// apply applies definitions and requires that all went well.
func (b *bundle) apply(t *testing.T, definitions ...string) v1.Applied {
	t.Helper()
	got := b.do(t, http.MethodPost, "/v1/apply", batch(t, false, definitions...))
	require.Equal(t, http.StatusOK, got.status, string(got.body))
	var out v1.Applied
	got.into(t, &out)
	require.Zero(t, out.Failed, string(got.body))
	return out
}

func batch(t *testing.T, dryRun bool, definitions ...string) string {
	t.Helper()
	in := v1.Apply{DryRun: dryRun}
	for _, d := range definitions {
		in.Definitions = append(in.Definitions, json.RawMessage(d))
	}
	raw, err := json.Marshal(in)
	require.NoError(t, err)
	return string(raw)
}

// echo is the definition of a published tool.
func echo(slug string) string {
	return `{"kind":"tool","slug":"` + slug + `","description":"Echoes.","implementation_type":"internal","version":"1.0.0","publish":true,
		"input_schema":{"type":"object","properties":{"say":{"type":"string"}}}}`
}

// desk is the definition of a published agent.
func desk(slug, tools string) string {
	return `{"kind":"agent","slug":"` + slug + `","instructions":"Help.","model":"scripted/desk","version":"1.0.0","publish":true,"tools":` + tools + `}`
}
