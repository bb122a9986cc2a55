package registry_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// calling is a registry whose http tools send the method of their configuration.
func calling(t *testing.T) (*registry.Registry, tool.Principal) {
	t.Helper()
	store := registrytest.NewStore()
	r := registry.New(store, registry.Options{
		Types: registrytest.Types(executors.Type{
			Traits: tool.Traits{Implementation: tool.HTTP, Quick: true},
			Needs: func(raw json.RawMessage) (tool.Egress, string) {
				var c struct {
					Method string `json:"method"`
				}
				if json.Unmarshal(raw, &c) != nil || c.Method == http.MethodGet {
					return tool.EgressReadOnly, c.Method
				}
				return tool.EgressWrite, c.Method
			},
		}),
	})
	return r, tool.Principal{
		Tenant: store.AddTenant("acme"), Subject: "user:ada", Permissions: []string{registry.ToolsWrite},
	}
}

// A tool whose every call would be refused is explained as a draft, and is not
// published.
func TestDriftAtDefinition(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		method string
		policy tool.Policy
		path   string
		says   string
	}{
		"reads":            {"GET", tool.Policy{EgressClass: tool.EgressReadOnly}, "-", ""},
		"reads, may write": {"GET", tool.Policy{EgressClass: tool.EgressWrite}, "-", ""},
		"writes":           {"POST", tool.Policy{EgressClass: tool.EgressWrite}, "-", ""},
		"none": {
			"GET",
			tool.Policy{EgressClass: tool.EgressNone},
			"/egress_class",
			"sends GET, and its egress class is none: every call would be refused and reported as drift; set egress_class to " +
				"read_only",
		},
		"none by default": {"GET", tool.Policy{}, "/egress_class", "its egress class is none"},
		"none, writes":    {"POST", tool.Policy{}, "/egress_class", "set egress_class to write"},
		"read only, writes": {
			"POST",
			tool.Policy{EgressClass: tool.EgressReadOnly},
			"/egress_class",
			"sends POST, and its egress class is read_only",
		},
		"method in rules": {
			"POST",
			tool.Policy{EgressClass: tool.EgressWrite, EgressRules: tool.EgressRules{Methods: []string{"POST"}}},
			"-",
			"",
		},
		"another in rules": {
			"POST",
			tool.Policy{EgressClass: tool.EgressWrite, EgressRules: tool.EgressRules{Methods: []string{"PUT"}}},
			"/egress_rules/methods", "add POST",
		},
	} {
		r, ada := calling(t)
		s := spec("getOrder", func(s *definition.ToolSpec) {
			s.Implementation, s.Config, s.Policy = tool.HTTP, json.RawMessage(`{"url":"https://example.com","method":"`+
				tt.method+`"}`), tt.policy
		})
		_, warnings, err := r.Create(t.Context(), ada, s)
		require.NoError(t, err, name)
		_, _, err = r.Publish(t.Context(), ada, tool.Ref{Slug: "getOrder"})
		if tt.path == "-" {
			require.NoError(t, err, name)
			require.Empty(t, warnings, name)
			continue
		}
		registrytest.RequireRefused(t, err, tool.Invalid, tt.path, tt.says)
		require.Len(t, warnings, 1, name)
		require.Contains(t, warnings[0], tt.says, name)

		s.Slug, s.Publish = "findOrder", true
		_, err = r.Apply(t.Context(), ada, definition.Definition{Tool: &s})
		registrytest.RequireRefused(t, err, tool.Invalid, tt.path, tt.says)
	}
}

// Rules are read in both spellings, checked at their path, distinguished, and are
// no part of a version.
func TestEgressRules(t *testing.T) {
	t.Parallel()

	r, ada := calling(t)
	read := func(rules string) definition.ToolSpec {
		d, err := definition.Parse([]byte(`{"slug":"order","description":"Orders.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"implementationType":"http",
			"implementationConfig":{"url":"https://example.com","method":"GET"},"egressClass":"read_only",` + rules + `}`))
		require.NoError(t, err)
		return *d.Tool
	}
	snake := read(`"egress_rules":{"hosts":["*.example.com"],"methods":["GET"],"ports":[443],"max_bytes":4096}`)
	require.Equal(
		t,
		tool.EgressRules{Hosts: []string{"*.example.com"}, Methods: []string{"GET"}, Ports: []uint16{443}, MaxBytes: 4096},
		snake.EgressRules,
	)
	require.Equal(
		t, snake, read(`"egressRules":{"hosts":["*.example.com"],"methods":["GET"],"ports":[443],"maxBytes":4096}`),
	)

	for rules, path := range map[string]string{
		`{"hosts":["https://example.com"]}`: "/egress_rules/hosts/0",
		`{"methods":["POST"]}`:              "/egress_rules/methods/0",
		`{"ports":[0]}`:                     "/egress_rules/ports/0",
		`{"max_bytes":-1}`:                  "/egress_rules/max_bytes",
	} {
		_, _, err := r.Create(t.Context(), ada, read(`"egress_rules":`+rules))
		registrytest.RequireRefused(t, err, tool.Invalid, path, "")
	}
	none := snake
	none.EgressClass = tool.EgressNone
	_, _, err := r.Create(t.Context(), ada, none)
	registrytest.RequireRefused(t, err, tool.Invalid, "/egress_rules", "drop egress_rules")
	_, err = definition.Parse([]byte(`{"slug":"a","egress_rules":{"host":["x"]}}`))
	registrytest.RequireRefused(t, err, tool.Invalid, "/egress_rules/host", "did you mean hosts")
	_, err = definition.Parse([]byte(`{"slug":"a","egress_rules":{"ports":["443"]}}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err))

	snake.Publish = true
	apply := func(s definition.ToolSpec) definition.Change {
		c, err := r.Apply(t.Context(), ada, definition.Definition{Tool: &s})
		require.NoError(t, err)
		return c
	}
	first := apply(snake)
	require.True(t, first.Published)
	narrower := snake
	narrower.EgressRules.Hosts = []string{"api.example.com"}
	d, err := r.CompareSpec(t.Context(), ada, narrower, "")
	require.NoError(t, err)
	require.Len(t, d.Changes, 1)
	require.Equal(t, "egress_rules/hosts/0", d.Changes[0].Path)
	change := apply(narrower)
	require.False(t, change.Published, "a policy makes no version")
	head, err := r.Get(t.Context(), ada, tool.Ref{Slug: "order"})
	require.NoError(t, err)
	require.Equal(t, narrower.EgressRules, head.EgressRules)
	require.Equal(t, definition.Unchanged, apply(narrower).Action)
}
