package builtins_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors/internalcall"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// house is a registry with the built-ins in it, and what runs them.
type house struct {
	platform *registry.Registry
	registry *registry.Registry
	resolver *resolver.Resolver
	store    *registrytest.Store
	ada, bob tool.Principal // Of two tenants.
}

func newHouse(t *testing.T) house {
	t.Helper()
	store := registrytest.NewStore()
	r := resolver.New(store, resolver.Options{})
	described := builtins.Described(mcpcall.CheckConfig)
	opts := registry.Options{Resolver: r, Builtins: described.Complete}
	h := house{
		platform: registry.New(store.Platform(), opts), registry: registry.New(store, opts), resolver: r, store: store,
	}
	for slug, p := range map[string]*tool.Principal{"acme": &h.ada, "other": &h.bob} {
		*p = tool.Principal{
			Tenant: store.AddTenant(slug), Subject: "user:" + slug, Permissions: []string{registry.ToolsWrite},
		}
	}
	h.sync(t, described)
	return h
}

// sync publishes the platform's own tools, as migrate does.
func (h house) sync(t *testing.T, c *builtins.Catalog, edit ...func(*registry.BuiltinSpec)) {
	t.Helper()
	var specs []registry.BuiltinSpec
	for _, s := range c.Specs() {
		b := registry.BuiltinSpec{Key: s.Key, Version: s.Version, Definition: s.Definition, Policy: s.Policy}
		for _, e := range edit {
			e(&b)
		}
		specs = append(specs, b)
	}
	_, err := h.platform.SyncBuiltins(t.Context(), specs)
	require.NoError(t, err)
}

// apply makes a tool of a definition, and publishes it.
func (h house) apply(t *testing.T, p tool.Principal, s definition.ToolSpec) (definition.Change, error) {
	t.Helper()
	s.Publish, s.Implementation = true, tool.Internal
	return h.registry.Apply(t.Context(), p, definition.Definition{Tool: &s})
}

// call runs a tool as the platform does: resolved, and under its policy.
func (h house) call(t *testing.T, c *builtins.Catalog, p tool.Principal, slug, args string) (*tool.Result, error) {
	t.Helper()
	r, err := h.resolver.Resolve(t.Context(), resolver.Request{Principal: p, Ref: tool.Ref{Slug: slug}})
	if err != nil {
		return nil, err
	}
	return standard(internalcall.New(c, h.resolver)).Execute(t.Context(), &tool.Call{
		CallIdentity: tool.CallIdentity{Principal: p},
		Version:      r.Version,
		Builtin:      r.Tool.BuiltinKey,
		Egress:       r.Tool.EgressClass,
		Arguments:    json.RawMessage(args),
	})
}

// catalog returns built-ins whose way out leads the tenants to the upstream.
func (s *search) catalog(t *testing.T, tenants ...tool.TenantID) *builtins.Catalog {
	t.Helper()
	cfg := s.cfg
	cfg.Gate = s.gateFor(t, tenants...)
	return builtins.New(cfg)
}

// A tenant's own web_search, with a key in its configuration or a credential
// that this names, goes all the way from its definition to the provider; the
// platform's, which it shadows, is everybody else's.
func TestConfiguredWebSearch(t *testing.T) {
	t.Parallel()

	h, s := newHouse(t), newSearch(t)
	s.env["SERPER_API_KEY"] = "from-the-platform"
	c := s.catalog(t, h.ada.Tenant, h.bob.Tenant)
	change, err := h.apply(t, h.ada, definition.ToolSpec{Slug: "web_search", Definition: tool.Definition{
		Config: json.RawMessage(s.at(`{"builtin": "web_search", "api_key": "k-of-acme", "endpoint": "$URL/acme"}`)),
	}})
	require.NoError(t, err)
	require.Len(t, change.Warnings, 2, "%v", change.Warnings)
	require.Contains(t, change.Warnings[0], "credentials_ref", "a key in the open is warned of")
	require.Contains(t, change.Warnings[1], "hides the platform's tool")

	for p, want := range map[*tool.Principal]asked{
		&h.ada: {key: "k-of-acme", path: "/acme"}, &h.bob: {key: "from-the-platform", path: "/serper"},
	} {
		res, err := h.call(t, c, *p, "web_search", `{"query": "crib"}`)
		require.NoError(t, err)
		require.Contains(t, string(res.Structured), "Tool crib")
		got := s.last(t)
		require.Equal(t, want, asked{key: got.key, path: got.path})
	}

	_, err = h.apply(t, h.ada, definition.ToolSpec{Slug: "searchPapers", Definition: tool.Definition{
		Config: json.RawMessage(`{"builtin": "web_search", "credentials_ref": "absent"}`),
	}})
	require.NoError(t, err)
	own, err := h.registry.Get(t.Context(), h.ada, tool.Ref{Slug: "searchPapers"})
	require.NoError(t, err)
	platform, err := h.registry.Get(t.Context(), h.bob, tool.Ref{Slug: "web_search"})
	require.NoError(t, err)
	require.JSONEq(t, string(platform.InputSchema), string(own.InputSchema), "what it leaves out is the built-in's")
	require.Equal(t, tool.EgressReadOnly, own.EgressClass)
	require.True(t, own.Execution.Pure)
	require.Equal(t, tool.BucketCustom, own.Bucket())
	_, err = h.call(t, c, h.ada, "searchPapers", `{"query": "crib"}`)
	require.Equal(t, tool.Denied, tool.KindOf(err))
}

// What the operator decides of the platform's tool holds for every tool that
// runs the same built-in.
func TestConfiguredBuiltinFollowsThePlatform(t *testing.T) {
	t.Parallel()

	h, s := newHouse(t), newSearch(t)
	c := s.catalog(t, h.ada.Tenant)
	_, err := h.apply(t, h.ada, definition.ToolSpec{Slug: "searchPapers", Definition: tool.Definition{
		Config: json.RawMessage(s.at(`{"builtin": "web_search", "api_key": "k-of-acme", "endpoint": "$URL/acme"}`)),
	}})
	require.NoError(t, err)
	_, err = h.call(t, c, h.ada, "searchPapers", `{"query": "crib"}`)
	require.NoError(t, err)

	described := builtins.Described(mcpcall.CheckConfig)
	h.sync(t, described, func(b *registry.BuiltinSpec) { b.Policy.TenantSlugs = []string{"other"} })
	_, err = h.call(t, c, h.ada, "searchPapers", `{"query": "crib"}`)
	require.Equal(t, tool.NotFound, tool.KindOf(err), "it is for other tenants now")
	h.sync(t, described, func(b *registry.BuiltinSpec) { b.Policy.RequiredPermission = "web.search" })
	_, err = h.call(t, c, h.ada, "searchPapers", `{"query": "crib"}`)
	require.Equal(t, tool.Denied, tool.KindOf(err), "it wants a permission now")
	h.sync(t, described)
	_, err = h.call(t, c, h.ada, "searchPapers", `{"query": "crib"}`)
	require.NoError(t, err)
}

// What could not run is refused when it is made.
func TestConfiguredBuiltinRefused(t *testing.T) {
	t.Parallel()

	h := newHouse(t)
	for name, c := range map[string]struct {
		config string
		class  tool.Egress
		pure   bool
		path   string
	}{
		"an unknown built-in":         {config: `{"builtin": "web_surch"}`, path: "/implementation_config/builtin"},
		"one without a configuration": {config: `{"builtin": "datetime_utils"}`, path: "/implementation_config/builtin"},
		"an unknown field": {
			config: `{"builtin": "web_search", "apikey": "k"}`, path: "/implementation_config/apikey",
		},
		"a field of another type": {
			config: `{"builtin": "web_search", "api_key": 42}`, path: "/implementation_config/api_key",
		},
		"an unknown provider": {
			config: `{"builtin": "web_search", "provider": "bing"}`, path: "/implementation_config/provider",
		},
		"an endpoint without a key": {
			config: `{"builtin": "web_search", "endpoint": "https://x.example/"}`, path: "/implementation_config/endpoint",
		},
		"an endpoint with a user": {
			config: `{"builtin": "web_search", "api_key": "k", "endpoint": "https://u:p@x.example/"}`,
			path:   "/implementation_config/endpoint",
		},
		"no name of a credential": {
			config: `{"builtin": "web_search", "credentials_ref": "../x"}`, path: "/implementation_config/credentials_ref",
		},
		"a class that may not call out": {
			config: `{"builtin": "web_search"}`, class: tool.EgressNone, path: "/egress_class",
		},
		"mcp_call that only reads": {
			config: `{"builtin": "mcp_call", "server": "x"}`, class: tool.EgressReadOnly, path: "/egress_class",
		},
		"mcp_call of one tool": {
			config: `{"builtin": "mcp_call", "server": "x", "tool_name": "y"}`, path: "/implementation_config/tool_name",
		},
		"mcp_call with a literal secret": {
			config: `{"builtin": "mcp_call", "server_url": "https://x.example/", "headers": {"Authorization": "Bearer x"}}`,
			path:   "/implementation_config/headers/Authorization",
		},
		"http_request with odd auth": {
			config: `{"builtin": "http_request", "auth": {"type": "digest", "credentials_ref": "x"}}`,
			path:   "/implementation_config/auth/type",
		},
		"http_request without credential": {
			config: `{"builtin": "http_request", "auth": {"type": "bearer"}}`,
			path:   "/implementation_config/auth/credentials_ref",
		},
		"http_request that writes purely": {
			config: `{"builtin": "http_request"}`, class: tool.EgressWrite, pure: true, path: "/execution",
		},
	} {
		_, err := h.apply(t, h.ada, definition.ToolSpec{
			Slug: "ownTool", Policy: tool.Policy{EgressClass: c.class}, Definition: tool.Definition{
				Config: json.RawMessage(c.config), Execution: tool.Execution{Pure: c.pure},
			},
		})
		require.Equal(t, tool.Invalid, tool.KindOf(err), name)
		require.Equal(t, c.path, tool.AsError(err).Path, name)
	}
	_, err := h.apply(t, h.ada, definition.ToolSpec{Slug: "ownTool", BuiltinKey: "web_search"})
	require.Equal(t, "/builtin_key", tool.AsError(err).Path, "a key beside the definition is the platform's")
}

// A tenant's own http_request of the class write may change something, with
// the credential of its configuration; a call is sent once.
func TestConfiguredHTTPRequest(t *testing.T) {
	t.Parallel()

	h, s := newHouse(t), newSearch(t)
	var got []string
	s.bench = newBench(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(
			got, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Shop")+" "+r.Header.Get("Content-Type")+" "+string(body),
		)
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	s.cfg.Secrets = secret.ResolverFunc(func(context.Context, tool.TenantID, string) (secret.Value, error) {
		return secret.NewValue("shop-k3y", s.host), nil
	})
	c := s.catalog(t, h.ada.Tenant)
	_, err := h.apply(t, h.ada, definition.ToolSpec{
		Slug: "changeOrder", Policy: tool.Policy{EgressClass: tool.EgressWrite}, Definition: tool.Definition{
			Config: json.RawMessage(
				`{"builtin": "http_request", "auth": {"type": "header", "header": "X-Shop", "credentials_ref": "shop"}}`,
			),
		},
	})
	require.NoError(t, err)
	own, err := h.registry.Get(t.Context(), h.ada, tool.Ref{Slug: "changeOrder"})
	require.NoError(t, err)
	require.True(t, own.RequiresApproval)
	require.False(t, own.Execution.Repeatable())
	require.Contains(t, string(own.InputSchema), "PATCH")

	for _, args := range []string{
		`{"method": "PATCH", "url": "$URL/orders/1", "json": {"n": 1.10}}`, `{"method": "GET", "url": "$URL/orders/1"}`,
	} {
		_, err = h.call(t, c, h.ada, "changeOrder", s.at(args))
		require.NoError(t, err)
	}
	require.Equal(t, []string{`PATCH /orders/1 shop-k3y application/json {"n":1.10}`, `GET /orders/1 shop-k3y  `}, got)
	_, err = h.call(t, c, h.ada, "changeOrder", s.at(`{"method": "GET", "url": "$URL/refused"}`))
	require.Equal(t, tool.Denied, tool.KindOf(err), "our credential was refused")
	_, err = h.call(t, c, h.ada, "changeOrder", `{"method": "GET", "url": "http://search.example/"}`)
	require.Equal(t, tool.Denied, tool.KindOf(err))
	require.ErrorContains(t, err, "not bound", "the credential goes to its hosts alone")
	require.Len(t, got, 3)
	for args, want := range map[string]string{
		`{"method": "GET", "url": "$URL", "body": "x"}`:                    "no body",
		`{"method": "POST", "url": "$URL", "body": "x", "json": {"a": 1}}`: "either json or body",
		`{"method": "CONNECT", "url": "$URL"}`:                             "want one of GET",
	} {
		res, err := h.call(t, c, h.ada, "changeOrder", s.at(args))
		require.NoError(t, err)
		require.Contains(t, res.Content[0].Text, want)
	}
}
