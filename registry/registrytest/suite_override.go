package registrytest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// overridesAsRead returns what the resolver's source has of a tool's overrides, and requires
// that a lookup by slug, one by id and a page agree.
func overridesAsRead(t *testing.T, f Fixture, tenant tool.TenantID, head tool.Tool) tool.Overrides {
	t.Helper()
	var found []tool.Overrides
	for _, ref := range []tool.Ref{{Slug: head.Slug}, {ID: head.ID}} {
		c, err := f.Source.Entries(t.Context(), tenant, ref)
		require.NoError(t, err)
		require.Len(t, c.Entries, 1)
		found = append(found, c.Entries[0].Overrides)
	}
	page, err := f.Source.Page(t.Context(), tenant, resolver.PageQuery{Limit: 10})
	require.NoError(t, err)
	for _, e := range page.Entries {
		if e.Tool.ID == head.ID {
			found = append(found, e.Overrides)
		}
	}
	require.Len(t, found, 3)
	for _, o := range found {
		for _, level := range []*tool.Override{o.Tenant, o.Platform} {
			if level != nil {
				level.Slug, level.ChangedAt = "", level.ChangedAt.UTC()
			}
		}
		require.Equal(t, found[0], o)
	}
	return found[0]
}

func testOverrides(t *testing.T, f Fixture) {
	t.Helper()

	on, off := true, false
	global, own := create(t, f.Platform, exampleFor("sharedTool")), create(t, f.Store, example(f.Tenant, "findOrder"))
	require.Zero(t, overridesAsRead(t, f, f.Tenant, global))
	require.Zero(t, overridesAsRead(t, f, f.Tenant, own))

	preset, err := f.Platform.SetOverride(t.Context(), tool.Override{
		ToolID: global.ID, Enabled: &on, Reason: "for all", ChangedBy: "user:ops",
	})
	require.NoError(t, err)
	require.Empty(t, preset.Tenant)
	require.NotZero(t, preset.ChangedAt)
	decided, err := f.Store.SetOverride(t.Context(), tool.Override{
		Tenant: f.Tenant, ToolID: global.ID, Enabled: &on, ChangedBy: "user:ada",
	})
	require.NoError(t, err)
	require.True(t, *decided.Enabled)
	_, err = f.Store.SetOverride(t.Context(), tool.Override{
		Tenant: f.Tenant, ToolID: global.ID, Enabled: &off, RequiresApproval: true, Reason: "not here", ChangedBy: "user:bob",
	})
	require.NoError(t, err, "a decision replaces the one before it")

	read := overridesAsRead(t, f, f.Tenant, global)
	require.False(t, *read.Tenant.Enabled)
	require.True(t, read.Tenant.RequiresApproval)
	require.Equal(t, [3]string{string(f.Tenant), "not here", "user:bob"},
		[3]string{string(read.Tenant.Tenant), read.Tenant.Reason, read.Tenant.ChangedBy})
	require.True(t, *read.Platform.Enabled)
	require.Equal(t, "for all", read.Platform.Reason)
	others := overridesAsRead(t, f, f.Other, global)
	require.Nil(t, others.Tenant, "one tenant's decision is not another's")
	require.NotNil(t, others.Platform)

	policies, err := f.Source.Policies(t.Context(), f.Tenant, []string{global.ID})
	require.NoError(t, err)
	require.True(t, policies[global.ID].RequiresApproval)
	policies, err = f.Source.Policies(t.Context(), f.Other, []string{global.ID})
	require.NoError(t, err)
	require.Equal(t, global.RequiresApproval, policies[global.ID].RequiresApproval)

	require.NoError(t, f.Store.DeleteOverride(t.Context(), f.Tenant, global.ID, 0))
	requireKind(t, tool.NotFound, f.Store.DeleteOverride(t.Context(), f.Tenant, global.ID, 0))
	require.Nil(t, overridesAsRead(t, f, f.Tenant, global).Tenant)
}

// testOverrideContent holds that what an override changes of a tool is read as it was written, by every path, and
// that each edit is kept under a revision that is never used again.
func testOverrideContent(t *testing.T, f Fixture) {
	t.Helper()

	global := create(t, f.Platform, exampleFor("sharedTool"))
	limits := &tool.CallLimits{TimeoutSeconds: 2.5, MaxAttempts: 1, InlineBytes: tool.MinInlineResult}
	of := func(description string, revision int64) tool.Override {
		return tool.Override{
			Tenant: f.Tenant, ToolID: global.ID, ChangedBy: "user:ada", Revision: revision,
			Adaptation: tool.Adaptation{
				Description: description, Defaults: map[string]json.RawMessage{"limit": json.RawMessage("5")}, Limits: limits,
			},
		}
	}
	first, err := f.Store.SetOverride(t.Context(), of("Searches <our> shop.", registry.NoOverride))
	require.NoError(t, err)
	require.Equal(t, int64(1), first.Revision)
	_, err = f.Store.SetOverride(t.Context(), of("Too late.", registry.NoOverride))
	requireKind(t, tool.Conflict, err)
	require.ErrorIs(t, err, definition.ErrChanged)
	second, err := f.Store.SetOverride(t.Context(), of("Searches our shop.", first.Revision))
	require.NoError(t, err)
	_, err = f.Store.SetOverride(t.Context(), of("Too late.", first.Revision))
	require.ErrorIs(t, err, definition.ErrChanged)
	preset, err := f.Platform.SetOverride(t.Context(), tool.Override{
		ToolID: global.ID, Adaptation: tool.Adaptation{Description: "All."},
	})
	require.NoError(t, err)

	read := overridesAsRead(t, f, f.Tenant, global)
	require.Equal(t, of("Searches our shop.", 0).Adaptation, read.Tenant.Adaptation)
	require.Equal(t, tool.OverrideRevisions{Tenant: second.Revision, Platform: preset.Revision}, read.Revisions())
	many, err := f.Source.OverridesOf(t.Context(), f.Tenant, []string{global.ID})
	require.NoError(t, err)
	require.Equal(t, read.Revisions(), many[global.ID].Revisions())
	require.Equal(t, "All.", many[global.ID].Platform.Description)

	require.ErrorIs(t, f.Store.DeleteOverride(t.Context(), f.Tenant, global.ID, first.Revision), definition.ErrChanged)
	require.NoError(t, f.Store.DeleteOverride(t.Context(), f.Tenant, global.ID, second.Revision))
	third, err := f.Store.SetOverride(t.Context(), of("Again.", registry.NoOverride))
	require.NoError(t, err)
	require.Equal(t, int64(4), third.Revision, "a removal has a revision too")

	at := tool.OverrideRevisions{Tenant: first.Revision, Platform: preset.Revision}
	then, err := f.Source.OverridesAt(t.Context(), f.Tenant, global.ID, at)
	require.NoError(t, err)
	require.Equal(t, first.Adaptation, then.Tenant.Adaptation)
	require.Equal(t, at, then.Revisions())
	_, err = f.Source.OverridesAt(t.Context(), f.Tenant, global.ID, tool.OverrideRevisions{Tenant: 99})
	requireKind(t, tool.NotFound, err)

	var states []string
	for before := int64(0); ; {
		page, err := f.Store.ListOverrideVersions(t.Context(), f.Tenant, global.ID, false, before, 3)
		require.NoError(t, err)
		if len(page) == 0 {
			break
		}
		for _, v := range page {
			states = append(states, fmt.Sprint(v.Revision, " ", v.Description, " ", v.Removed))
			before = v.Revision
		}
	}
	require.Equal(t, []string{
		"4 Again. false", "3  true", "2 Searches our shop. false", "1 Searches <our> shop. false",
	}, states)
	shared, err := f.Store.ListOverrideVersions(t.Context(), f.Tenant, global.ID, true, 0, 10)
	require.NoError(t, err)
	require.Equal(t, "All.", shared[0].Description)
}

func testOverrideIsolation(t *testing.T, f Fixture) {
	t.Helper()

	off := false
	global, theirs := create(t, f.Platform, exampleFor("sharedTool")), create(t, f.Store, example(f.Other, "theirTool"))
	for _, id := range []string{theirs.ID, newID()} {
		_, err := f.Store.SetOverride(t.Context(), tool.Override{Tenant: f.Tenant, ToolID: id, Enabled: &off})
		requireKind(t, tool.NotFound, err)
		requireKind(t, tool.NotFound, f.Store.DeleteOverride(t.Context(), f.Tenant, id, 0))
	}
	_, err := f.Store.SetOverride(t.Context(), tool.Override{ToolID: global.ID, Enabled: &off})
	require.Error(t, err, "a tenant's store does not decide for all")
	_, err = f.Store.SetOverride(t.Context(), tool.Override{Tenant: f.Other, ToolID: theirs.ID, Enabled: &off})
	require.NoError(t, err)
	listed, err := f.Store.ListOverrides(t.Context(), f.Tenant, registry.OverridePlace{}, 10)
	require.NoError(t, err)
	require.Empty(t, listed)
}

func testListOverrides(t *testing.T, f Fixture) {
	t.Helper()

	on := true
	var want []registry.OverridePlace
	for _, slug := range []string{"aTool", "bTool", "cTool"} {
		head := create(t, f.Platform, exampleFor(slug))
		_, err := f.Store.SetOverride(t.Context(), tool.Override{Tenant: f.Tenant, ToolID: head.ID, Enabled: &on})
		require.NoError(t, err)
		_, err = f.Platform.SetOverride(t.Context(), tool.Override{ToolID: head.ID, Enabled: &on})
		require.NoError(t, err)
		want = append(want, registry.OverridePlace{Slug: slug, ToolID: head.ID},
			registry.OverridePlace{Slug: slug, ToolID: head.ID, Platform: true})
	}
	for _, limit := range []int{1, 2, 4, 10} {
		var got []registry.OverridePlace
		var after registry.OverridePlace
		for {
			page, err := f.Store.ListOverrides(t.Context(), f.Tenant, after, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page), limit)
			if len(page) == 0 {
				break
			}
			for _, o := range page {
				after = registry.OverridePlace{Slug: o.Slug, ToolID: o.ToolID, Platform: o.Tenant == ""}
				got = append(got, after)
			}
		}
		require.Equal(t, want, got, "%d a page", limit)
	}
}

func testNewBuiltinsAreOn(t *testing.T, f Fixture) {
	t.Helper()

	builtin := exampleFor("webFetch")
	builtin.BuiltinKey = builtin.Slug
	builtin = create(t, f.Platform, builtin)
	read := overridesAsRead(t, f, f.Tenant, builtin)
	require.True(t, *read.Platform.Enabled)
	require.NoError(t, f.Platform.DeleteOverride(t.Context(), "", builtin.ID, 0))
	builtin.Description += " Changed."
	_, err := f.Platform.UpdateTool(t.Context(), builtin)
	require.NoError(t, err)
	require.Nil(t, overridesAsRead(t, f, f.Tenant, builtin).Platform, "what the platform took back stays so")
}
