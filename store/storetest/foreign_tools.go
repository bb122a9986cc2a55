package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// toolCases are the foreign-tenant cases of the heads of tools.
var toolCases = map[string]func(t *testing.T, f foreign){
	"CreateTool": func(t *testing.T, f foreign) { // The same slug is free: no tenant learns that another uses it.
		t.Helper()
		_, err := f.Store.CreateTool(t.Context(), tool.Tool{
			Tenant: f.stranger, Slug: f.Tool.Slug, Status: tool.Draft, Version: "1.0.0",
		})
		require.NoError(t, err)
	},
	"UpdateTool": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.Tool
		stolen.Tenant = f.stranger
		_, err := f.Store.UpdateTool(t.Context(), stolen)
		RequireKind(t, tool.NotFound, err)
	},
	"DeleteTool": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.Tool
		stolen.Tenant = f.stranger
		RequireKind(t, tool.NotFound, f.Store.DeleteTool(t.Context(), stolen))
		_, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: f.Tool.ID})
		require.NoError(t, err)
	},
	"RenameTool": func(t *testing.T, f foreign) {
		t.Helper()
		stolen := f.Tool
		stolen.Tenant = f.stranger
		_, err := f.Store.RenameTool(t.Context(), stolen, "stolenTool", "")
		RequireKind(t, tool.NotFound, err)
	},
	"FurtherNames": func(t *testing.T, f foreign) {
		t.Helper()
		head := f.Tool
		former := head.Slug
		head, err := f.Store.RenameTool(t.Context(), head, "renamedTool", "2099-06-30")
		require.NoError(t, err)
		names, err := f.Store.FurtherNames(t.Context(), f.stranger, []string{former})
		require.NoError(t, err)
		require.Empty(t, names)
		names, err = f.Store.FurtherNames(t.Context(), f.Tenant, []string{former})
		require.NoError(t, err)
		require.Equal(t, []registry.FurtherName{
			{Name: former, ToolID: head.ID, Slug: "renamedTool", LastDay: "2099-06-30"},
		}, names)
	},
	"SetOverride": func(t *testing.T, f foreign) {
		t.Helper()
		on := true
		_, err := f.Store.SetOverride(t.Context(), tool.Override{Tenant: f.stranger, ToolID: f.Tool.ID, Enabled: &on})
		RequireKind(t, tool.NotFound, err)
	},
	"DeleteOverride": func(t *testing.T, f foreign) {
		t.Helper()
		f.Switch(t, f.Tenant, f.Tool.ID, true)
		RequireKind(t, tool.NotFound, f.Store.DeleteOverride(t.Context(), f.stranger, f.Tool.ID, 0))
		require.NoError(t, f.Store.DeleteOverride(t.Context(), f.Tenant, f.Tool.ID, 0))
	},
	"ListOverrideVersions": func(t *testing.T, f foreign) {
		t.Helper()
		f.Switch(t, f.Tenant, f.Tool.ID, true)
		own, err := f.Store.ListOverrideVersions(t.Context(), f.Tenant, f.Tool.ID, false, 0, 10)
		require.NoError(t, err)
		require.NotEmpty(t, own)
		for _, platform := range []bool{true, false} {
			versions, err := f.Store.ListOverrideVersions(t.Context(), f.stranger, f.Tool.ID, platform, 0, 10)
			require.NoError(t, err)
			require.Empty(t, versions)
		}
		require.NoError(t, f.Store.DeleteOverride(t.Context(), f.Tenant, f.Tool.ID, 0))
	},
	"OverridesAt": func(t *testing.T, f foreign) {
		t.Helper()
		f.Switch(t, f.Tenant, f.Tool.ID, true)
		own, err := f.Store.ListOverrideVersions(t.Context(), f.Tenant, f.Tool.ID, false, 0, 1)
		require.NoError(t, err)
		at := tool.OverrideRevisions{Tenant: own[0].Revision}
		_, err = f.Store.OverridesAt(t.Context(), f.Tenant, f.Tool.ID, at)
		require.NoError(t, err)
		_, err = f.Store.OverridesAt(t.Context(), f.stranger, f.Tool.ID, at)
		RequireKind(t, tool.NotFound, err)
		require.NoError(t, f.Store.DeleteOverride(t.Context(), f.Tenant, f.Tool.ID, 0))
	},
	"OverridesOf": func(t *testing.T, f foreign) {
		t.Helper()
		f.Switch(t, f.Tenant, f.Tool.ID, true)
		for tenant, want := range map[tool.TenantID]int{f.Tenant: 1, f.stranger: 0} {
			found, err := f.Store.OverridesOf(t.Context(), tenant, []string{f.Tool.ID})
			require.NoError(t, err)
			require.Len(t, found, want)
		}
		require.NoError(t, f.Store.DeleteOverride(t.Context(), f.Tenant, f.Tool.ID, 0))
	},
	"ListOverrides": func(t *testing.T, f foreign) {
		t.Helper()
		f.Switch(t, f.Tenant, f.Tool.ID, true)
		listed, err := f.Store.ListOverrides(t.Context(), f.stranger, registry.OverridePlace{}, 10)
		require.NoError(t, err)
		for _, o := range listed {
			require.Empty(t, o.Tenant)
			require.NotEqual(t, f.Tool.ID, o.ToolID)
		}
		require.NoError(t, f.Store.DeleteOverride(t.Context(), f.Tenant, f.Tool.ID, 0))
	},
	"FindTool": func(t *testing.T, f foreign) {
		t.Helper()
		for _, ref := range []tool.Ref{{ID: f.Tool.ID}, {Slug: f.Tool.Slug}} {
			_, err := f.Store.FindTool(t.Context(), f.stranger, ref)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"CountTools": func(t *testing.T, f foreign) {
		t.Helper()
		counts, err := f.Store.CountTools(t.Context(), f.stranger, 100)
		require.NoError(t, err)
		for _, c := range counts {
			require.True(t, c.Global, "%+v", c)
		}
	},
	"Overview": func(t *testing.T, f foreign) {
		t.Helper()
		own, err := f.Store.Overview(t.Context(), f.Tenant, time.Now())
		require.NoError(t, err)
		require.True(t, own.HasRuns && own.HasTools)
		theirs, err := f.Store.Overview(t.Context(), f.stranger, time.Now())
		require.NoError(t, err)
		require.False(t, theirs.HasRuns || theirs.HasTools)
		for _, r := range theirs.Runs {
			require.Zero(t, r.Runs, r.Status)
		}
		require.Zero(t, theirs.Waiting)
	},
	"SearchNames": func(t *testing.T, f foreign) {
		t.Helper()
		q := store.NameQuery{Text: f.Tool.Slug, Kinds: []string{store.NamedTool}}
		mine, err := f.Store.SearchNames(t.Context(), f.Tenant, q)
		require.NoError(t, err)
		require.NotEmpty(t, mine)
		found, err := f.Store.SearchNames(t.Context(), f.stranger, q)
		require.NoError(t, err)
		for _, n := range found {
			require.NotEqual(t, f.Tool.ID, n.ID)
		}
	},
	"ListTools": func(t *testing.T, f foreign) {
		t.Helper()
		tools, err := f.Store.ListTools(t.Context(), f.stranger, registry.ToolQuery{})
		require.NoError(t, err)
		require.Empty(t, tools)
	},
}
