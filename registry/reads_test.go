package registry_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// reading is a registry whose http tools may declare that their POST only reads.
type reading struct {
	*registry.Registry

	store    *registrytest.Store
	now      time.Time
	writer   tool.Principal // May write tools.
	operator tool.Principal // May declare, too.
}

func newReading(t *testing.T) *reading {
	t.Helper()
	store := registrytest.NewStore()
	r := &reading{store: store, now: noon}
	r.Registry = registry.New(store, registry.Options{
		Types: registrytest.Types(httpcall.Type(nil, nil)),
		Clock: func() time.Time { return r.now },
	})
	tenant := store.AddTenant("acme")
	r.writer = tool.Principal{Tenant: tenant, Subject: "user:ada", Permissions: []string{registry.ToolsWrite}}
	r.operator = tool.Principal{
		Tenant: tenant, Subject: "user:eve", Permissions: []string{registry.ToolsWrite, registry.DeclareReads},
	}
	return r
}

// searchByPost is a tool that posts a query and declares that it only reads.
func searchByPost(edit ...func(*definition.ToolSpec)) definition.ToolSpec {
	s := spec("searchOrders", func(s *definition.ToolSpec) {
		s.Implementation, s.EgressClass = tool.HTTP, tool.EgressReadOnly
		s.Config = json.RawMessage(`{"method":"POST","url":"https://example.com/search","reads":true}`)
	})
	for _, e := range edit {
		e(&s)
	}
	return s
}

// Every way to write a tool refuses the declaration to a principal that may
// write tools and may not declare, and names the permission.
func TestDeclarationsNeedTheirPermission(t *testing.T) {
	t.Parallel()

	r := newReading(t)
	ctx, ref := t.Context(), tool.Ref{Slug: "searchOrders"}
	defined := func(edit ...func(*definition.ToolSpec)) definition.Definition {
		s := searchByPost(edit...)
		return definition.Definition{Tool: &s}
	}
	refused := func(err error) {
		t.Helper()
		registrytest.RequireRefused(t, err, tool.Denied, "/implementation_config/reads", `"tools.declare_reads"`)
	}
	_, _, err := r.Create(ctx, r.writer, searchByPost())
	refused(err)
	for _, edit := range []func(*definition.ToolSpec){func(*definition.ToolSpec) {}, publish} {
		_, err = r.Apply(ctx, r.writer, defined(edit))
		refused(err)
		_, err = r.Check(ctx, r.writer, defined(edit))
		refused(err)
		imported, err := r.Import(ctx, r.writer, []definition.ToolSpec{searchByPost(edit)})
		require.NoError(t, err)
		require.NotNil(t, imported[0].Err)
		refused(imported[0].Err)
	}
	_, err = r.SyncCode(ctx, r.writer.Tenant, []registry.CodeSpec{{
		Slug: "searchOrders", Version: "1.0.0", Definition: searchByPost().Definition, Policy: searchByPost().Policy,
	}})
	refused(err)
	tools, err := r.List(ctx, r.writer, registry.ToolQuery{})
	require.NoError(t, err)
	require.Empty(t, tools)

	_, _, err = r.Create(ctx, r.operator, searchByPost())
	require.NoError(t, err)
	_, _, err = r.Update(
		ctx,
		r.writer,
		ref,
		searchByPost(func(s *definition.ToolSpec) { s.Description = "Other words." }),
	)
	refused(err)
	_, _, err = r.Version(ctx, r.writer, ref, "1.0.0")
	refused(err)
	_, _, err = r.Publish(ctx, r.writer, ref)
	refused(err)
	_, _, err = r.Version(ctx, r.operator, ref, "1.0.0")
	require.NoError(t, err)
	_, _, err = r.Publish(ctx, r.writer, tool.Ref{Slug: "searchOrders", Constraint: "1.0.0"})
	refused(err)
	_, v, err := r.Publish(ctx, r.operator, tool.Ref{Slug: "searchOrders", Constraint: "1.0.0"})
	require.NoError(t, err)
	require.True(t, v.Published)

	withdrawn, _, err := r.Update(ctx, r.writer, ref, searchByPost(func(s *definition.ToolSpec) {
		s.EgressClass, s.Config = tool.EgressWrite, json.RawMessage(`{"method":"POST","url":"https://example.com/search"}`)
	}))
	require.NoError(t, err, "to take a declaration back needs no permission to declare")
	require.Nil(t, withdrawn.ReadsDeclared)
}

// A declaration is recorded with who made it and when. It stays with its
// configuration: another one is declared anew, and each version keeps its own.
func TestDeclarationsAreRecorded(t *testing.T) {
	t.Parallel()

	r := newReading(t)
	ctx, ref := t.Context(), tool.Ref{Slug: "searchOrders"}
	root := r.operator
	root.Subject, root.Permissions = "user:root", []string{"*"}
	declared := func(by string) *tool.Declaration { return &tool.Declaration{By: by, At: r.now} }

	s := searchByPost(publish)
	_, err := r.Apply(ctx, r.operator, definition.Definition{Tool: &s})
	require.NoError(t, err)
	first := declared("user:eve")
	r.now = noon.Add(time.Hour)
	s.Description, s.Version = "Searches orders.", "1.0.1"
	_, err = r.Apply(ctx, root, definition.Definition{Tool: &s})
	require.NoError(t, err)
	head, err := r.Get(ctx, root, ref)
	require.NoError(t, err)
	require.Equal(t, first, head.ReadsDeclared, "the configuration is the one that was declared")

	s.Config, s.Version = json.RawMessage(`{"method":"POST","url":"https://example.com/find","reads":true}`), "2.0.0"
	_, err = r.Apply(ctx, root, definition.Definition{Tool: &s})
	require.NoError(t, err)
	head, err = r.Get(ctx, root, ref)
	require.NoError(t, err)
	require.Equal(t, declared("user:root"), head.ReadsDeclared)
	versions, err := r.Versions(ctx, root, ref)
	require.NoError(t, err)
	require.Equal(t, []*tool.Declaration{declared("user:root"), first, first},
		[]*tool.Declaration{versions[0].ReadsDeclared, versions[1].ReadsDeclared, versions[2].ReadsDeclared})

	resolve := resolver.New(r.store, resolver.Options{})
	for constraint, want := range map[string]*tool.Declaration{"1.0.0": first, "": declared("user:root")} {
		e, err := resolve.Explain(ctx, resolver.Request{
			Principal: r.writer, Ref: tool.Ref{Slug: "searchOrders", Constraint: constraint},
		})
		require.NoError(t, err)
		require.Equal(t, want, e.ReadsDeclared, constraint)
	}
	change, err := r.Apply(ctx, root, definition.Definition{Tool: &s})
	require.NoError(t, err)
	require.Equal(t, definition.Unchanged, change.Action)
	s.Version, s.Publish = "", false
	change, err = r.Apply(ctx, r.writer, definition.Definition{Tool: &s})
	require.NoError(t, err, "who changes nothing declares nothing")
	require.Equal(t, definition.Unchanged, change.Action)
	s.Description = "Searches."
	_, err = r.Apply(ctx, r.writer, definition.Definition{Tool: &s})
	registrytest.RequireRefused(t, err, tool.Denied, "/implementation_config/reads", `"tools.declare_reads"`)
}

// A registry of the zero options asks for the permission too.
func TestDeclarationsNeedTheirPermissionByDefault(t *testing.T) {
	t.Parallel()

	r := newReading(t)
	_, _, err := registry.New(
		r.store,
		registry.Options{Types: registrytest.Types(httpcall.Type(nil, nil))},
	).Create(t.Context(), r.writer, searchByPost())
	registrytest.RequireRefused(t, err, tool.Denied, "/implementation_config/reads", `"tools.declare_reads"`)
}

// Rules may list POST where it is declared, an obstacle says what to declare,
// and a declaration under class write is warned of.
func TestDeclarationsAndTheClass(t *testing.T) {
	t.Parallel()

	r := newReading(t)
	_, warnings, err := r.Create(t.Context(), r.operator, searchByPost(func(s *definition.ToolSpec) {
		s.EgressRules.Methods = []string{"POST"}
	}))
	require.NoError(t, err)
	require.Empty(t, warnings)
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		_, _, err = r.Create(t.Context(), r.operator, searchByPost(func(s *definition.ToolSpec) {
			s.EgressRules.Methods = []string{method}
		}))
		registrytest.RequireRefused(t, err, tool.Invalid, "/egress_rules/methods/0",
			"GET, HEAD, OPTIONS and POST, not "+method)
	}
	undeclared := searchByPost(publish, func(s *definition.ToolSpec) {
		s.Config = json.RawMessage(`{"method":"POST","url":"https://example.com/search"}`)
	})
	_, err = r.Apply(t.Context(), r.operator, definition.Definition{Tool: &undeclared})
	registrytest.RequireRefused(t, err, tool.Invalid, "/egress_class",
		"set implementation_config.reads to true, which needs the permission tools.declare_reads")

	_, warnings, err = r.Create(t.Context(), r.operator, searchByPost(func(s *definition.ToolSpec) {
		s.Slug, s.EgressClass = "findOrders", tool.EgressWrite
	}))
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "set egress_class to read_only")
}
