package mcpserver_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// shelf is a server whose offer a test changes.
type shelf struct {
	mu    sync.Mutex
	offer mcpserver.Discovery
	err   error
}

func (s *shelf) Discover(context.Context, tool.TenantID, definition.Connection) (*mcpserver.Discovery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	found := s.offer
	return &found, nil
}

func (s *shelf) CheckServer(c *definition.Connection) error {
	if c.URL == "" {
		return &tool.Error{Kind: tool.Invalid, Path: "/server_url", Msg: "missing"}
	}
	return nil
}

// put replaces what is offered.
func (s *shelf) put(tools ...mcpserver.ToolDefinition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offer = mcpserver.Discovery{Name: "Files", Version: "2.1", Protocol: "2025-11-25", Tools: tools}
	s.err = nil
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// offered is a definition with the digest that goes with it.
func offered(t *testing.T, name, description, input string) mcpserver.ToolDefinition {
	t.Helper()
	d := mcpserver.ToolDefinition{Name: name, Description: description, InputSchema: json.RawMessage(input)}
	return digested(t, d)
}

func digested(t *testing.T, d mcpserver.ToolDefinition) mcpserver.ToolDefinition {
	t.Helper()
	d.Digest = ""
	raw, err := json.Marshal(d)
	require.NoError(t, err)
	d.Digest, err = tool.Digest(raw)
	require.NoError(t, err)
	return d
}

const (
	pathInput  = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`
	rangeInput = `{"type":"object","properties":{"path":{"type":"string"},"from":{"type":"integer"}},"required":["path","from"]}`
)

// noon is the time of all tests.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// bench is a registry over a store with two tenants.
type bench struct {
	store    *registrytest.Store
	registry *registry.Registry
	resolver *resolver.Resolver
	ada      tool.Principal // May write.
	bob      tool.Principal // Of another tenant; may write there.
}

// setup returns a bench whose registry talks to servers by discoverer.
func setup(discoverer mcpserver.Discoverer) bench {
	store := registrytest.NewStore()
	r := resolver.New(store, resolver.Options{})
	writer := []string{registry.ToolsWrite}
	return bench{
		store: store, resolver: r,
		registry: registry.New(store, registry.Options{
			Discoverer: discoverer, Resolver: r, Clock: func() time.Time { return noon },
		}),
		ada: tool.Principal{Tenant: store.AddTenant("acme"), Subject: "user:ada", Permissions: writer},
		bob: tool.Principal{Tenant: store.AddTenant("other"), Subject: "user:bob", Permissions: writer},
	}
}

// attached is a bench with a server that offers two files tools, both allowed.
type attached struct {
	bench
	shelf *shelf
	read  mcpserver.ToolDefinition
	list  mcpserver.ToolDefinition
}

// empty returns a bench with a server that is not attached.
func empty() attached {
	s := &shelf{}
	return attached{bench: setup(s), shelf: s}
}

// attach returns a bench whose server is attached with the given allowed tools.
func attach(t *testing.T, allowed ...string) attached {
	t.Helper()
	b := empty()
	b.read = offered(t, "read_file", "Reads a file.", pathInput)
	b.list = offered(t, "list_dir", "Lists a folder.", pathInput)
	b.shelf.put(b.read, b.list)
	if len(allowed) == 0 {
		allowed = []string{"read_file", "list_dir"}
	}
	_, report, err := b.registry.Servers().Attach(t.Context(), b.ada, files(allowed...))
	require.NoError(t, err)
	require.Nil(t, report.Err)
	return b
}

func files(allowed ...string) definition.ServerSpec {
	return definition.ServerSpec{
		Slug: "files", Connection: definition.Connection{URL: "https://files.example.com/mcp"}, AllowedTools: allowed,
	}
}

func (b *attached) refresh(t *testing.T) mcpserver.Report {
	t.Helper()
	_, report, err := b.registry.Servers().Refresh(t.Context(), b.ada, "files")
	require.NoError(t, err)
	return report
}

func (b *attached) publish(t *testing.T, slug string) tool.Version {
	t.Helper()
	_, v, err := b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: slug})
	require.NoError(t, err)
	return v
}

// runs reports whether production would run a tool, and why not.
func (b *attached) runs(t *testing.T, slug string) error {
	t.Helper()
	_, err := b.resolver.Resolve(t.Context(), resolver.Request{Principal: b.ada, Ref: tool.Ref{Slug: slug}})
	return err
}

func (b *attached) remote(t *testing.T, name string) mcpserver.Tool {
	t.Helper()
	all, err := b.registry.Servers().Tools(t.Context(), b.ada, "files", mcpserver.ToolQuery{})
	require.NoError(t, err)
	for _, r := range all {
		if r.Name == name {
			return r
		}
	}
	require.Fail(t, "no such tool", name)
	return mcpserver.Tool{}
}

func changes(report mcpserver.Report) []string {
	var out []string
	for _, item := range report.Tools {
		out = append(out, string(item.Change)+" "+item.Name)
	}
	return out
}

// spec returns a definition of a tool that no server offers.
func spec(slug string) definition.ToolSpec {
	return definition.ToolSpec{
		Slug: slug, Definition: tool.Definition{Description: "Does it.", Implementation: tool.Internal},
	}
}
