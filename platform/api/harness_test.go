package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/nested"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// bundle is a server on a database of its own, whose Temporal is down: package
// dev tests what needs one.
type bundle struct {
	*storetest.Database
	url    string
	server http.Handler
	tenant tool.TenantID
	key    string // May do anything in the tenant.
	log    *bytes.Buffer
}

func setup(t *testing.T, change ...func(*api.Config)) *bundle {
	t.Helper()
	b := &bundle{Database: storetest.NewDatabase(t), log: &bytes.Buffer{}}
	b.tenant = b.Tenant(t)
	b.key = b.Key(t, b.tenant, "*")
	b.server = newHandler(t, b.Store, slog.New(slog.NewJSONHandler(b.log, nil)), change...)
	server := httptest.NewServer(b.server)
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

func newHandler(t *testing.T, s *store.Store, log *slog.Logger, change ...func(*api.Config)) http.Handler {
	t.Helper()
	temporal, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: discard{}})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	resolve := resolver.New(s, resolver.Options{})
	cfg := api.Config{
		Store: s, Resolver: resolve, Temporal: temporal, TaskQueue: "test", RequestTimeout: 30 * time.Second,
		Registry: registry.New(s, registry.Options{
			Resolver: resolve, Types: registrytest.Types(nested.AgentCall(), nested.Task(), nested.Composition(), executors.Type{
				Traits: tool.Traits{Implementation: tool.HTTP, Quick: true, Guarded: true}, DeclaresReads: httpcall.DeclaresReads,
			}),
			Pipelines: func(ctx context.Context, tenant tool.TenantID, slugOrID string) error {
				_, err := s.FindPipeline(ctx, tenant, slugOrID)
				return err
			},
		}),
		Logger: log,
	}
	for _, fn := range change {
		fn(&cfg)
	}
	handler, err := api.New(cfg)
	require.NoError(t, err)
	return handler
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
	class, listed := v1.FindProblemClass(strings.TrimPrefix(p.Type, v1.ProblemsPath+"/"))
	require.True(t, listed, p.Type)
	require.Equal(t, class.Code, p.Code)
	require.Equal(t, class.Status, p.Status)
	require.NotEmpty(t, p.TraceID)
	require.Equal(t, p.TraceID, a.header.Get(api.TraceHeader))
	return p
}

// do sends a request as the bundle's key does, or as another.
func (b *bundle) do(t *testing.T, method, path, body string, key ...string) answer {
	t.Helper()
	return b.send(t, method, path, body, nil, key...)
}

// send is do with headers.
func (b *bundle) send(t *testing.T, method, path, body string, header map[string]string, key ...string) answer {
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
	for name, value := range header {
		req.Header.Set(name, value)
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
	return `{"kind":"tool","slug":"` + slug +
		`","description":"Echoes.","implementation_type":"internal","version":"1.0.0","publish":true,
		"input_schema":{"type":"object","properties":{"say":{"type":"string"}}}}`
}

// desk is the definition of a published agent.
func desk(slug, tools string) string {
	return `{"kind":"agent","slug":"` + slug +
		`","instructions":"Help.","model":"scripted/desk","version":"1.0.0","publish":true,"tools":` + tools + `}`
}

// onSQL calls do when a statement that contains some text is sent.
type onSQL struct {
	text string
	do   func()
}

func (o onSQL) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.Contains(data.SQL, o.text) {
		o.do()
	}
	return ctx
}

func (onSQL) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (o onSQL) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, q := range data.Batch.QueuedQueries {
		if strings.Contains(q.SQL, o.text) {
			o.do()
		}
	}
	return ctx
}

func (onSQL) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (onSQL) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// traced returns a handler over the bundle's database that calls do when a
// statement with the text is sent.
func (b *bundle) traced(t *testing.T, text string, do func()) http.Handler {
	t.Helper()
	s, err := store.Open(t.Context(), b.URL, store.Options{
		SetRole: store.AppRole, MaxConns: 4, Tracer: onSQL{text, do}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return newHandler(t, s, slog.New(slog.DiscardHandler))
}
