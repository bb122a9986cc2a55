package registry_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/internal/nested"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// bench is a registry over a store with two tenants.
type bench struct {
	store    *registrytest.Store
	registry *registry.Registry
	platform *registry.Registry
	resolver *resolver.Resolver
	ada      tool.Principal // May write.
	bob      tool.Principal // Of another tenant; may write there.
}

func setup(t *testing.T) bench {
	t.Helper()

	store := registrytest.NewStore()
	r := resolver.New(store, resolver.Options{})
	opts := registry.Options{
		Resolver: r,
		Types: registrytest.Types(
			executors.Type{
				Traits: tool.Traits{Implementation: tool.HTTP, Quick: true},
				CheckConfig: func(raw, _ json.RawMessage) error {
					var c struct {
						URL string `json:"url"`
					}
					if json.Unmarshal(raw, &c) != nil || c.URL == "" {
						return &tool.Error{Kind: tool.Invalid, Path: "/url", Msg: "required"}
					}
					return nil
				},
			},
			executors.Type{
				Traits: tool.Traits{
					Implementation: tool.Provider,
					RunBy:          tool.RunByProvider,
				},
				Unavailable: "nothing here runs tools of type provider",
			},
			nested.AgentCall(), nested.Task(), nested.Composition(),
		),
		Clock: func() time.Time { return noon },
	}
	writer := []string{registry.ToolsWrite, registry.AgentsWrite}
	return bench{
		store: store, registry: registry.New(store, opts), platform: registry.New(store.Platform(), opts), resolver: r,
		ada: tool.Principal{Tenant: store.AddTenant("acme"), Subject: "user:ada", Permissions: writer},
		bob: tool.Principal{Tenant: store.AddTenant("other"), Subject: "user:bob", Permissions: writer},
	}
}

func spec(slug string, edit ...func(*definition.ToolSpec)) definition.ToolSpec {
	s := definition.ToolSpec{Slug: slug, Definition: tool.Definition{
		Name: slug, Description: "Does it.", Implementation: tool.Internal,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}}}`),
	}}
	for _, e := range edit {
		e(&s)
	}
	return s
}

func input(schema string) func(*definition.ToolSpec) {
	return func(s *definition.ToolSpec) { s.InputSchema = json.RawMessage(schema) }
}

func version(number string) func(*definition.ToolSpec) {
	return func(s *definition.ToolSpec) { s.Version = number }
}

func publish(s *definition.ToolSpec) { s.Publish = true }

func TestCreateGuardrails(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		edit func(*definition.ToolSpec)
		kind tool.Kind
		path string
		text string
	}{
		{"a bad slug", func(s *definition.ToolSpec) { s.Slug = "1st tool" }, tool.Invalid, "/slug", "expected a letter"},
		{"global scope", func(s *definition.ToolSpec) { s.Scope = "global" }, tool.Invalid, "/scope", "expected tenant"},
		{
			"published at once", func(s *definition.ToolSpec) { s.Status = tool.Published }, tool.Conflict, "/status",
			"then publish it",
		},
		{
			"deprecated at once", func(s *definition.ToolSpec) { s.Status = tool.Deprecated }, tool.Conflict, "/status",
			"only what is published",
		},
		{"an unknown status", func(s *definition.ToolSpec) { s.Status = "asleep" }, tool.Invalid, "/status", "asleep"},
		{"a bad version", version("1.2"), tool.Invalid, "/version", "semantic version"},
		{
			"no implementation type", func(s *definition.ToolSpec) { s.Implementation = "" }, tool.Invalid,
			"/implementation_type", "one of internal, http",
		},
		{
			"an unknown implementation type", func(s *definition.ToolSpec) { s.Implementation = "htttp" }, tool.Invalid,
			"/implementation_type", `"htttp"`,
		},
		{"an input that is no object", input(`{"type":"array"}`), tool.Invalid, "/input_schema", `"type": "object"`},
		{
			"a malformed schema", input(`{"type":"object","properties":{"a":{"type":"text"}}}`), tool.Invalid,
			"/input_schema/properties/a/type", "malformed",
		},
		{
			"an empty enum", input(`{"type":"object","properties":{"a":{"enum":[]}}}`), tool.Invalid,
			"/input_schema/properties/a/enum", "at least one",
		},
		{
			"a remote reference",
			func(s *definition.ToolSpec) {
				s.OutputSchema = json.RawMessage(`{"$ref":"https://example.com/s.json"}`)
			},
			tool.Invalid, "/output_schema", "only references within",
		},
		{
			"a configuration that is no object",
			func(s *definition.ToolSpec) { s.Config = json.RawMessage(`[]`) },
			tool.Invalid,
			"/implementation_config",
			"an object",
		},
		{
			"a configuration its executor refuses",
			func(s *definition.ToolSpec) { s.Implementation = tool.HTTP },
			tool.Invalid,
			"/implementation_config/url",
			"required",
		},
		{
			"retrieval without a pipeline",
			func(s *definition.ToolSpec) { s.Implementation = tool.RAGRetrieval },
			tool.Invalid,
			"/implementation_config/pipeline_id",
			"requires",
		},
		{
			"an unknown egress class", func(s *definition.ToolSpec) { s.EgressClass = "all" }, tool.Invalid, "/egress_class",
			"read_only",
		},
		{
			"an unknown permission policy", func(s *definition.ToolSpec) { s.PermissionPolicy = "ask" }, tool.Invalid,
			"/permission_policy", "always_ask",
		},
		{
			"a negative timeout", func(s *definition.ToolSpec) { s.Execution.TimeoutSeconds = -1 }, tool.Invalid,
			"/execution/timeout_s", "expected 0",
		},
		{
			"a timeout of no number", func(s *definition.ToolSpec) { s.Execution.TimeoutSeconds = math.NaN() }, tool.Invalid,
			"/execution/timeout_s", "expected 0",
		},
		{
			"a timeout finer than a millisecond", func(s *definition.ToolSpec) { s.Execution.TimeoutSeconds = 0.0015 },
			tool.Invalid, "/execution/timeout_s", "whole milliseconds",
		},
		{
			"an unknown lane", func(s *definition.ToolSpec) { s.Execution.Lane = "quick" }, tool.Invalid, "/execution/lane",
			"auto, visible or fast",
		},
		{
			"a lane it cannot have", func(s *definition.ToolSpec) { s.Execution.Lane = tool.LaneFast }, tool.Invalid,
			"/execution/lane", "neither pure nor idempotent",
		},
		{
			"an unknown intent", func(s *definition.ToolSpec) { s.Interaction.Intent = "joke" }, tool.Invalid,
			"/interaction/intent", "render",
		},
		{
			"a bad alias", func(s *definition.ToolSpec) { s.Interaction.Aliases = []string{"ok", "not ok"} }, tool.Invalid,
			"/interaction/aliases/1", "not ok",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			_, _, err := b.registry.Create(t.Context(), b.ada, spec("findOrder", tt.edit))
			registrytest.RequireRefused(t, err, tt.kind, tt.path, tt.text)
		})
	}
}

func TestCreateDefaults(t *testing.T) {
	t.Parallel()

	b := setup(t)
	got, warnings, err := b.registry.Create(t.Context(), b.ada,
		spec("findOrder", func(s *definition.ToolSpec) { s.EgressClass = tool.EgressWrite }))
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, tool.Draft, got.Status)
	require.True(t, got.Active)
	require.Equal(t, "1.0.0", got.Version)
	require.Equal(t, tool.PermissionAuto, got.PermissionPolicy)
	require.Equal(t, tool.EgressWrite, got.EgressClass)
	require.True(t, got.RequiresApproval, "what writes outside needs an approval")
	require.Nil(t, got.PublishedAt)
	require.Equal(t, noon, got.CreatedAt)

	_, _, err = b.registry.Create(t.Context(), b.ada, spec("findOrder"))
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	theirs, _, err := b.registry.Create(t.Context(), b.bob, spec("findOrder"))
	require.NoError(t, err, "slugs are the tenants' own")
	require.Equal(t, tool.EgressNone, theirs.EgressClass, "who says no class calls nothing")
}

func TestSlugWarnings(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for slug, want := range map[string]string{
		"searchOrders": "", "getURLStatus": "", "publish_view": "", "generate-image": "",
		"search_orders": "camelCase", "orders": "camelCase", "SearchOrders": "camelCase", "orderSearcher": "",
		"bananaOrders": `"banana" does not look like a verb`,
	} {
		_, warnings, err := b.registry.Create(t.Context(), b.ada, spec(slug))
		require.NoError(t, err)
		if want == "" {
			require.Empty(t, warnings, slug)
			continue
		}
		require.Len(t, warnings, 1, slug)
		require.Contains(t, warnings[0], want)
	}
}

func TestWritesNeedPermission(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("findOrder"))
	require.NoError(t, err)
	guest := tool.Principal{Tenant: b.ada.Tenant, Permissions: []string{"tools.read"}}
	ref := tool.Ref{Slug: "findOrder"}
	for name, write := range map[string]func(tool.Principal) error{
		"create": func(p tool.Principal) error { _, _, err := b.registry.Create(t.Context(), p, spec("x")); return err },
		"update": func(p tool.Principal) error {
			_, _, err := b.registry.Update(t.Context(), p, ref, spec("x"))
			return err
		},
		"version": func(p tool.Principal) error {
			_, _, err := b.registry.Version(t.Context(), p, ref, "1.0.0")
			return err
		},
		"publish": func(p tool.Principal) error { _, _, err := b.registry.Publish(t.Context(), p, ref); return err },
		"disable": func(p tool.Principal) error { _, err := b.registry.Disable(t.Context(), p, ref); return err },
		"enable":  func(p tool.Principal) error { _, err := b.registry.Enable(t.Context(), p, ref); return err },
		"deprecate": func(p tool.Principal) error {
			_, err := b.registry.Deprecate(t.Context(), p, ref)
			return err
		},
		"import": func(p tool.Principal) error { _, err := b.registry.Import(t.Context(), p, nil); return err },
		"apply": func(p tool.Principal) error {
			s := spec("x")
			_, err := b.registry.Apply(t.Context(), p, definition.Definition{Tool: &s})
			return err
		},
		"agent": func(p tool.Principal) error {
			_, _, err := b.registry.CreateAgent(t.Context(), p, definition.AgentSpec{Slug: "x"})
			return err
		},
		"publish agent": func(p tool.Principal) error {
			_, _, err := b.registry.PublishAgent(t.Context(), p, "x")
			return err
		},
	} {
		require.Equal(t, tool.Denied, tool.KindOf(write(guest)), name)
		require.Equal(t, tool.Denied, tool.KindOf(write(tool.Principal{Permissions: []string{"*"}})),
			name+" without a tenant")
	}
	// To another tenant, the tool is not there.
	_, _, err = b.registry.Publish(t.Context(), b.bob, ref)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}

func TestVersionJudge(t *testing.T) {
	t.Parallel()

	base := `{"type":"object","properties":{"id":{"type":"string"}}}`
	added := `{"type":"object","properties":{"id":{"type":"string"},"n":{"type":"integer"}}}`
	required := `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`
	tests := []struct {
		name   string
		first  string // Published before.
		schema string
		number string
		text   string // Of the refusal.
		kind   tool.Kind
	}{
		{"an addition as a minor version", "1.0.0", added, "1.1.0", "", ""},
		{"an addition as a major version", "1.0.0", added, "2.0.0", "", ""},
		{
			"an addition as a patch",
			"1.0.0",
			added,
			"1.0.1",
			"version 1.0.1: the change since 1.0.0 is minor and needs at least 1.1.0 (input/n: the property was added (minor))",
			tool.Conflict,
		},
		{
			"a break as a minor version", "1.2.3", required, "1.3.0",
			"the change since 1.2.3 is major and needs at least 2.0.0 (input/id: the property is required now (major))",
			tool.Conflict,
		},
		{"a break as a major version", "1.2.3", required, "2.0.0", "", ""},
		{"a break before 1.0.0", "0.3.0", required, "0.4.0", "", ""},
		{"a break before 1.0.0 as a patch", "0.3.0", required, "0.3.1", "needs at least 0.4.0", tool.Conflict},
		{"a break as a prerelease", "1.2.3", required, "2.0.0-rc.1", "", ""},
		{
			"less than the last", "1.2.0", added, "1.1.0", "version 1.1.0: expected more than the last, 1.2.0: at least 1.3.0",
			tool.Conflict,
		},
		{
			"other content under the number", "1.0.0", required, "1.0.0",
			"version 1.0.0 exists with other content: the change needs a new number, at least 2.0.0", tool.Conflict,
		},
		{"the same content under the number", "1.0.0", base, "1.0.0", "", ""},
		{"the same content under another", "1.0.0", base, "1.0.1", "", ""},
		{"no semantic version", "1.0.0", added, "one", "semantic version", tool.Invalid},
		{"build metadata", "1.0.0", added, "1.1.0+b1", "semantic version", tool.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			ref := tool.Ref{Slug: "findOrder"}
			_, _, err := b.registry.Create(t.Context(), b.ada, spec("findOrder", input(base), version(tt.first)))
			require.NoError(t, err)
			_, _, err = b.registry.Publish(t.Context(), b.ada, ref)
			require.NoError(t, err)
			_, _, err = b.registry.Update(t.Context(), b.ada, ref, spec("findOrder", input(tt.schema)))
			require.NoError(t, err)
			head, v, err := b.registry.Version(t.Context(), b.ada, ref, tt.number)
			if tt.kind != "" {
				registrytest.RequireRefused(t, err, tt.kind, "/version", tt.text)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.number, v.Number)
			require.Equal(t, tt.number, head.Version)
			require.Equal(t, tt.number == tt.first, v.Published)
		})
	}
}

func TestPublish(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ref := tool.Ref{Slug: "findOrder"}
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("findOrder"))
	require.NoError(t, err)
	head, v, err := b.registry.Publish(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, tool.Published, head.Status)
	require.Equal(t, noon, *head.PublishedAt)
	require.True(t, v.Published)
	require.Equal(t, "user:ada", v.CreatedBy)

	again, v2, err := b.registry.Publish(t.Context(), b.ada, ref)
	require.NoError(t, err, "to publish what is published changes nothing")
	require.Equal(t, v.ID, v2.ID)
	require.Equal(t, head.PublishedAt, again.PublishedAt)

	_, _, err = b.registry.Update(t.Context(), b.ada, ref,
		spec("findOrder", input(`{"type":"object","properties":{"n":{"type":"integer"}}}`)))
	require.NoError(t, err)
	_, _, err = b.registry.Publish(t.Context(), b.ada, ref)
	registrytest.RequireRefused(
		t,
		err,
		tool.Conflict,
		"/version",
		"version 1.0.0 exists with other content: the change needs a new number, at least 2.0.0 (input/id: the property was "+
			"removed (major))",
	)

	_, _, err = b.registry.Version(t.Context(), b.ada, ref, "2.0.0")
	require.NoError(t, err)
	got, err := b.resolver.Resolve(t.Context(), resolver.Request{Principal: b.ada, Ref: ref})
	require.NoError(t, err)
	require.Equal(t, "1.0.0", got.Version.Number, "a version is not published by being made")
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "findOrder", Constraint: "2.0.0"})
	require.NoError(t, err)
	got, err = b.resolver.Resolve(t.Context(), resolver.Request{Principal: b.ada, Ref: ref})
	require.NoError(t, err)
	require.Equal(t, "2.0.0", got.Version.Number)
	_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "findOrder", Constraint: "9.0.0"})
	require.Equal(t, tool.NotFound, tool.KindOf(err))

	versions, err := b.registry.Versions(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Len(t, versions, 2)
	require.Equal(t, "2.0.0", versions[0].Number)
}

func TestPublishRefusals(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		edit func(*definition.ToolSpec)
		kind tool.Kind
		path string
		text string
	}{
		{"an asynchronous http tool", func(s *definition.ToolSpec) {
			s.Implementation, s.Config, s.Interaction.Async = tool.HTTP, json.RawMessage(`{"url":"https://example.com"}`), true
		}, tool.Invalid, "/interaction/is_async", "cannot also be asynchronous"},
		{"a type that nothing runs", searching, tool.Conflict, "/implementation_type", "nothing here runs"},
		{
			"a disabled tool",
			func(s *definition.ToolSpec) { s.Status = tool.Disabled },
			tool.Conflict,
			"/status",
			"enable it",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			_, _, err := b.registry.Create(t.Context(), b.ada, spec("findOrder", tt.edit))
			require.NoError(t, err)
			_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "findOrder"})
			registrytest.RequireRefused(t, err, tt.kind, tt.path, tt.text)
		})
	}
}

func TestStatusMoves(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ref := tool.Ref{Slug: "findOrder"}
	_, _, err := b.registry.Create(t.Context(), b.ada, spec("findOrder"))
	require.NoError(t, err)
	_, err = b.registry.Deprecate(t.Context(), b.ada, ref)
	require.Equal(t, tool.Conflict, tool.KindOf(err), "a draft has no bindings to keep")
	_, _, err = b.registry.Publish(t.Context(), b.ada, ref)
	require.NoError(t, err)
	got, err := b.registry.Deprecate(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, tool.Deprecated, got.Status)
	got, _, err = b.registry.Publish(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, tool.Deprecated, got.Status, "publishing the same again does not undo a deprecation")
	got, err = b.registry.Disable(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, tool.Disabled, got.Status)
	got, err = b.registry.Enable(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, tool.Published, got.Status)
	same, err := b.registry.Enable(t.Context(), b.ada, ref)
	require.NoError(t, err)
	require.Equal(t, got.Revision, same.Revision, "nothing to do is not written")

	_, _, err = b.registry.Update(t.Context(), b.ada, ref,
		spec("findOrder", func(s *definition.ToolSpec) { s.Revision = 1 }))
	registrytest.RequireRefused(t, err, tool.Conflict, "/revision", "changed concurrently")
	_, _, err = b.registry.Update(t.Context(), b.ada, ref, spec("findInvoice"))
	registrytest.RequireRefused(t, err, tool.Invalid, "/slug", "cannot be changed")
}

func TestRetrievalSchemas(t *testing.T) {
	t.Parallel()

	b := setup(t)
	got, _, err := b.registry.Create(t.Context(), b.ada, spec("searchDocs", func(s *definition.ToolSpec) {
		s.Implementation, s.Config = tool.RAGRetrieval, json.RawMessage(`{"pipeline_id":"p"}`)
		s.InputSchema = json.RawMessage(
			`{"type":"object","properties":{"top":{"type":"integer","maximum":12345678901234567890}},"required":["top"]}`,
		)
	}))
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","required":["top","query"],"properties":{
		"top":{"type":"integer","maximum":12345678901234567890},"query":{"type":"string","description":"What to search for."}}}`, string(got.InputSchema))
	require.Contains(t, string(got.InputSchema), "12345678901234567890")
	require.JSONEq(
		t,
		`{"type":"object","required":["query"],"properties":{"query":{"type":"string","description":"What to search for."}}}`,
		string(got.OutputSchema),
	)
}
