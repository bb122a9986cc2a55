package registry_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

func code(version, schema string) registry.CodeSpec {
	return registry.CodeSpec{
		Slug: "convertWeight", Version: version, Policy: tool.Policy{EgressClass: tool.EgressReadOnly},
		Definition: tool.Definition{
			Description: "Converts.", Implementation: tool.Function,
			Config: json.RawMessage(`{"function_name":"convertWeight"}`), InputSchema: json.RawMessage(schema),
		},
	}
}

const (
	first  = `{"type":"object","properties":{"grams":{"type":"number"}}}`
	second = `{"type":"object","properties":{"grams":{"type":"number"},"unit":{"type":"string"}}}`
	third  = `{"type":"object","properties":{"unit":{"type":"string"}}}`
)

// sync brings ada's tool up to date, and returns what was done and what she
// gets in production.
func (b bench) sync(t *testing.T, s registry.CodeSpec) (definition.Change, string) {
	t.Helper()
	changes, err := b.registry.SyncCode(t.Context(), b.ada.Tenant, []registry.CodeSpec{s})
	require.NoError(t, err)
	require.Len(t, changes, 1)
	r, err := b.resolver.Resolve(t.Context(), resolver.Request{Principal: b.ada, Ref: tool.Ref{Slug: s.Slug}})
	if err != nil {
		return changes[0], string(tool.KindOf(err))
	}
	return changes[0], r.Version.Number
}

// Programs of several versions start in any order while they are rolled out:
// each version is published once, and none takes back a later one.
func TestSyncCodePublishesEachVersionOnce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	c, runs := b.sync(t, code("1.0.0", first))
	require.Equal(t, definition.Created, c.Action)
	require.Equal(t, "1.0.0", runs)
	pinned, err := b.resolver.Resolve(t.Context(), resolver.Request{
		Principal: b.ada, Ref: tool.Ref{Slug: "convertWeight"},
	})
	require.NoError(t, err)

	for _, step := range []struct {
		version, schema, runs string
		action                definition.Action
	}{
		{"1.0.0", first, "1.0.0", definition.Unchanged},
		{"1.1.0", second, "1.1.0", definition.Updated},
		{"1.0.0", first, "1.1.0", definition.Unchanged}, // The old program starts again.
		{"1.1.0", second, "1.1.0", definition.Unchanged},
		{"2.0.0", third, "2.0.0", definition.Updated},
		{"1.1.0", second, "2.0.0", definition.Unchanged},
	} {
		c, runs := b.sync(t, code(step.version, step.schema))
		require.Equal(t, step.action, c.Action, step.version)
		require.Equal(t, step.runs, runs)
		require.Empty(t, c.Warnings)
	}
	head, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "convertWeight"})
	require.NoError(t, err)
	require.Equal(t, "2.0.0", head.Version, "nor is the head taken back")
	v, err := resolver.New(b.store, resolver.Options{}).Version(t.Context(), b.ada.Tenant, pinned.Tool.ID,
		pinned.Version.Digest)
	require.NoError(t, err, "what was pinned is there for as long as a run lasts")
	require.Equal(t, "1.0.0", v.Number)

	_, err = b.registry.SyncCode(t.Context(), b.ada.Tenant, []registry.CodeSpec{code("2.0.0", first)})
	registrytest.RequireRefused(t, err, tool.Conflict, "/version", "other content")
	_, err = b.registry.SyncCode(t.Context(), b.ada.Tenant, []registry.CodeSpec{code("2.0.1", first)})
	registrytest.RequireRefused(t, err, tool.Conflict, "/version", "needs at least 3.0.0")
	c, _ = b.sync(t, code("1.5.0", first))
	require.Equal(t, []string{"version 2.0.0 is there, which is greater"}, c.Warnings)
	_, err = b.registry.Get(t.Context(), b.bob, tool.Ref{Slug: "convertWeight"})
	require.Equal(t, tool.NotFound, tool.KindOf(err), "other tenants do not have it")
}

// What a tenant decides of its tool stands, and keeps no program from starting.
func TestSyncCodeLeavesTheTenantItsSay(t *testing.T) {
	t.Parallel()

	ref := tool.Ref{Slug: "convertWeight"}
	for name, c := range map[string]struct {
		decide func(t *testing.T, b bench)
		runs   string
		warns  string
	}{
		"disabled": {func(t *testing.T, b bench) {
			t.Helper()
			_, err := b.registry.Disable(t.Context(), b.ada, ref)
			require.NoError(t, err)
		}, "conflict", "the tool is disabled"},
		"inactive": {func(t *testing.T, b bench) {
			t.Helper()
			s := spec("convertWeight")
			s.Definition, s.Active = code("1.0.0", first).Definition, new(bool)
			_, _, err := b.registry.Update(t.Context(), b.ada, ref, s)
			require.NoError(t, err)
		}, "conflict", "the tool is inactive"},
		"replaced": {func(t *testing.T, b bench) {
			t.Helper()
			_, _, err := b.registry.Update(t.Context(), b.ada, ref, spec("convertWeight"))
			require.NoError(t, err)
		}, "1.0.0", "the tenant has another tool of this slug"},
		"a version of its own": {func(t *testing.T, b bench) {
			t.Helper()
			s := spec("convertWeight", version("2.0.0"), publish)
			s.Definition = code("2.0.0", third).Definition
			_, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
			require.NoError(t, err)
		}, "2.0.0", "version 2.0.0 is there, which is greater"},
		"the same version of its own": {func(t *testing.T, b bench) {
			t.Helper()
			s := spec("convertWeight", version("1.1.0"), publish)
			s.Definition = code("1.1.0", first).Definition
			s.Description = "Mine."
			_, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
			require.NoError(t, err)
		}, "1.1.0", "the tenant made a version 1.1.0 of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.sync(t, code("1.0.0", first))
			c.decide(t, b)
			change, runs := b.sync(t, code("1.1.0", second))
			require.Equal(t, c.runs, runs)
			require.Equal(t, definition.Unchanged, change.Action)
			require.Equal(t, []string{c.warns}, change.Warnings)
		})
	}
}

// A version that does not follow from the tenant's own is no fault of the code.
func TestSyncCodeStepsBackForVersionsOfTheTenant(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.sync(t, code("1.0.0", first))
	own := spec("convertWeight", version("1.1.0"), publish)
	own.Definition = code(
		"", `{"type":"object","properties":{"grams":{"type":"number"},"note":{"type":"string"}}}`,
	).Definition
	_, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &own})
	require.NoError(t, err)
	c, runs := b.sync(t, code("1.2.0", second))
	require.Equal(t, "1.1.0", runs)
	require.Len(t, c.Warnings, 1)
	require.Contains(t, c.Warnings[0], "its own versions are in the way: version 1.2.0")
	_, runs = b.sync(t, code("2.0.0", second))
	require.Equal(t, "2.0.0", runs)
}

// The strictest of what tenant and code say of authority wins.
func TestSyncCodeKeepsTheStrictestPolicy(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.sync(t, code("1.0.0", first))
	s := spec("convertWeight")
	s.Definition = code("1.0.0", first).Definition
	s.Policy = tool.Policy{
		EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAlwaysAsk, RequiredPermission: "weights.read",
	}
	_, _, err := b.registry.Update(t.Context(), b.ada, tool.Ref{Slug: "convertWeight"}, s)
	require.NoError(t, err)
	_, err = b.registry.SyncCode(t.Context(), b.ada.Tenant, []registry.CodeSpec{code("1.1.0", second)})
	require.NoError(t, err)
	got, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "convertWeight"})
	require.NoError(t, err)
	require.Equal(t, tool.EgressReadOnly, got.EgressClass, "less, the function would refuse")
	require.Equal(t, tool.PermissionAlwaysAsk, got.PermissionPolicy)
	require.Equal(t, "weights.read", got.RequiredPermission)
}

// All workers of a host start at once.
func TestSyncCodeAtOnce(t *testing.T) {
	t.Parallel()

	b := setup(t)
	var wg sync.WaitGroup
	failures := make(chan error, 8)
	for range cap(failures) {
		wg.Go(func() {
			_, err := b.registry.SyncCode(t.Context(), b.ada.Tenant, []registry.CodeSpec{code("1.0.0", first)})
			failures <- err
		})
	}
	wg.Wait()
	for range cap(failures) {
		require.NoError(t, <-failures)
	}
	versions, err := b.registry.Versions(t.Context(), b.ada, tool.Ref{Slug: "convertWeight"})
	require.NoError(t, err)
	require.Len(t, versions, 1)
	require.True(t, versions[0].Published)
}
