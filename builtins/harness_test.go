package builtins_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// bench runs built-ins as the platform does, within its middleware, with an
// upstream on loopback, which the policy of the tenants "t1" and "t2" allows
// and nobody else's.
type bench struct {
	url  string // Of the upstream.
	host string
	gate *egress.Gate
}

func newBench(t *testing.T, h http.HandlerFunc) *bench {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	b := &bench{url: srv.URL, host: strings.TrimPrefix(srv.URL, "http://")}
	b.gate = b.gateFor(t, "t1", "t2")
	return b
}

// gateFor returns a way out that leads the tenants to the upstream.
func (b *bench) gateFor(t *testing.T, tenants ...tool.TenantID) *egress.Gate {
	t.Helper()
	gate, err := egress.New(egress.Config{Policy: func(tenant tool.TenantID) egress.Policy {
		if !slices.Contains(tenants, tenant) {
			return egress.Policy{}
		}
		return egress.Policy{AllowHosts: []string{b.host}}
	}})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	return gate
}

// at puts the upstream's address into a text.
func (b *bench) at(text string) string {
	return strings.NewReplacer("$URL", b.url, "$HOST", b.host).Replace(text)
}

// run calls a built-in of a catalog for the tenant "t1", unless edit says
// otherwise.
func (b *bench) run(
	t *testing.T, cfg builtins.Config, key, args string, edit ...func(*tool.Call),
) (*tool.Result, error) {
	t.Helper()
	cfg.Gate, cfg.Clock = b.gate, func() time.Time { return noon }
	c := builtins.New(cfg)
	run, ok := c.Lookup(key)
	require.True(t, ok)
	i := slices.IndexFunc(c.Specs(), func(s builtins.Spec) bool { return s.Key == key })
	spec := c.Specs()[i]
	call := &tool.Call{
		CallIdentity: tool.CallIdentity{EffectID: "effect-1", Principal: tool.Principal{Tenant: "t1"}},
		Egress:       spec.Policy.EgressClass,
		Version:      &tool.Version{Slug: key, Number: spec.Version, Snapshot: tool.Snapshot{Definition: spec.Definition}},
		Arguments:    json.RawMessage(b.at(args)),
	}
	for _, e := range edit {
		e(call)
	}
	return standard(run).Execute(t.Context(), call)
}

// ok runs a call that answers, and reads its structured value.
func (b *bench) ok(
	t *testing.T, cfg builtins.Config, key, args string, edit ...func(*tool.Call),
) (out map[string]any, res *tool.Result) {
	t.Helper()
	res, err := b.run(t, cfg, key, args, edit...)
	require.NoError(t, err)
	require.False(t, res.IsError, "%v", res.Content)
	require.NoError(t, json.Unmarshal(res.Structured, &out))
	return out, res
}

// no runs a call that is told "no", and returns why.
func (b *bench) no(t *testing.T, cfg builtins.Config, key, args string, edit ...func(*tool.Call)) string {
	t.Helper()
	res, err := b.run(t, cfg, key, args, edit...)
	require.NoError(t, err)
	require.True(t, res.IsError)
	return res.Content[0].Text
}

func tenant(id tool.TenantID) func(*tool.Call) {
	return func(c *tool.Call) { c.Principal.Tenant = id }
}

func class(e tool.Egress) func(*tool.Call) { return func(c *tool.Call) { c.Egress = e } }

// configured makes a call one of the tenant's own tool.
func (b *bench) configured(config string) func(*tool.Call) {
	return func(c *tool.Call) {
		c.Version.Tenant, c.Version.Snapshot.Config = c.Principal.Tenant, json.RawMessage(b.at(config))
	}
}

func standard(e tool.Executor) tool.Executor {
	for _, m := range slices.Backward(middleware.Standard(middleware.Options{Logger: slog.New(slog.DiscardHandler)})) {
		e = m(e)
	}
	return e
}

// executorFunc is an mcp executor or the like, made of a function.
type executorFunc func(ctx context.Context, call *tool.Call) (*tool.Result, error)

func (f executorFunc) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	return f(ctx, call)
}
