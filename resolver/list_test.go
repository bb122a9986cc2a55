package resolver_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// TestListIffResolve proves that a tool is listed exactly when a call of it by
// slug resolves, and then at the same version and digest, whatever tools,
// tenants, statuses, permissions, modes and page sizes there are.
func TestListIffResolve(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		store := registrytest.NewStore()
		tenants := []tool.TenantID{store.AddTenant("acme"), store.AddTenant("other"), ""}
		slugs := make(map[string]bool)
		set := resolver.Set{}
		for range rapid.IntRange(0, 12).Draw(t, "tools") {
			head := drawTool(t, tenants)
			head, err := store.Platform().CreateTool(ctx, head)
			if err != nil {
				continue // Its slug is taken.
			}
			slugs[head.Slug] = true
			if rapid.Bool().Draw(t, "chosen") {
				set[head.ID] = rapid.SampledFrom([]string{"", "^1", "1.0.0", ">=2"}).Draw(t, "constraint")
			}
			drawVersions(ctx, t, store, head)
			for _, tenant := range []tool.TenantID{tenants[0], ""} {
				if decided := rapid.SampledFrom([]string{"", "on", "off"}).Draw(t, "override"); decided != "" {
					on := decided == "on"
					_, _ = store.Platform().SetOverride(ctx, tool.Override{Tenant: tenant, ToolID: head.ID, Enabled: &on})
				}
			}
		}
		p := tool.Principal{
			Tenant: tenants[0], Permissions: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 2).Draw(t, "held"),
		}
		mode := rapid.SampledFrom([]tool.Mode{tool.Production, tool.Debug}).Draw(t, "mode")
		r := resolver.New(store, resolver.Options{})

		var within *resolver.Set
		if rapid.Bool().Draw(t, "limited") {
			within = &set
		}
		listed := make(map[string]resolver.Item)
		page := resolver.Page{Limit: rapid.IntRange(1, 4).Draw(t, "limit")}
		for {
			items, next, err := r.List(ctx, p, mode, resolver.Filter{Within: within}, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				if _, twice := listed[item.Tool.Slug]; twice {
					t.Fatalf("%s is listed twice", item.Tool.Slug)
				}
				listed[item.Tool.Slug] = item
			}
			if next == "" {
				break
			}
			page.After = next
		}
		for slug := range slugs {
			got, err := r.Resolve(ctx, resolver.Request{
				Principal: p, Ref: tool.Ref{Slug: slug}, Mode: mode, Within: within,
			})
			if _, chosen := set[idOf(got)]; err == nil && within != nil && !chosen {
				t.Fatalf("%s is not in the set", slug)
			}
			item, ok := listed[slug]
			if (err == nil) != ok {
				t.Fatalf("%s: listed %t, resolved %v", slug, ok, err)
			}
			if err == nil && (item.Version != got.Version.Number || item.Digest != got.Version.Digest ||
				item.Tool.ID != got.Tool.ID || item.Shadows != got.Shadows) {
				t.Fatalf("%s: listed %+v, resolved %+v", slug, item, got)
			}
		}
		if len(listed) > len(slugs) {
			t.Fatalf("%d listed of %d", len(listed), len(slugs))
		}
	})
}

// idOf returns the id of what was resolved; empty for nothing.
func idOf(r *resolver.Resolved) string {
	if r == nil {
		return ""
	}
	return r.Tool.ID
}

func drawTool(t *rapid.T, tenants []tool.TenantID) tool.Tool {
	return tool.Tool{
		Tenant: rapid.SampledFrom(tenants).Draw(t, "tenant"),
		Slug:   rapid.SampledFrom([]string{"aTool", "bTool", "cTool", "dTool", "eTool", "fTool"}).Draw(t, "slug"),
		Definition: tool.Definition{
			Name:           rapid.SampledFrom([]string{"x", "y"}).Draw(t, "name"),
			Implementation: rapid.SampledFrom([]tool.Implementation{tool.Internal, tool.HTTP, "unheard_of"}).Draw(t, "type"),
		},
		Policy: tool.Policy{
			RequiredPermission: rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "required"),
			TenantSlugs:        rapid.SampledFrom([][]string{nil, nil, {"acme"}, {"other"}}).Draw(t, "audience"),
		},
		Status: rapid.SampledFrom([]tool.Status{
			tool.Draft, tool.Published, tool.Published, tool.Deprecated, tool.Disabled,
		}).Draw(t, "status"),
		Active:  rapid.SampledFrom([]bool{true, true, true, false}).Draw(t, "active"),
		Version: "1.0.0",
	}
}

func drawVersions(ctx context.Context, t *rapid.T, store *registrytest.Store, head tool.Tool) {
	for i := range rapid.IntRange(0, 3).Draw(t, "versions") {
		snapshot := tool.Snapshot{Definition: tool.Definition{
			Name:           rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "content"),
			Implementation: tool.Internal,
		}}
		digest, err := snapshot.Digest()
		if err != nil {
			t.Fatal(err)
		}
		number := fmt.Sprintf("%d.%d.0%s", 1+i/2, i, rapid.SampledFrom([]string{"", "", "-rc.1"}).Draw(t, "pre"))
		head, _, err = store.Platform().AddVersion(ctx, head, tool.Version{
			Number: number, Digest: digest, Published: rapid.Bool().Draw(t, "published"), Snapshot: snapshot,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestListFiltersAndPages(t *testing.T) {
	t.Parallel()

	b := setup(t)
	p := b.request("x").Principal
	for i := range 450 { // More than the source gives at once.
		b.add(t, b.acme, fmt.Sprintf("tool%03d", i), nil, "1.0.0")
		if i%3 == 0 {
			b.add(t, "", fmt.Sprintf("tool%03d", i), nil, "2.0.0")
		}
	}
	b.add(t, b.acme, "webFetch", func(t *tool.Tool) { t.Implementation = tool.MCP }, "1.0.0")

	var slugs []string
	page := resolver.Page{Limit: 100}
	for {
		items, next, err := b.resolver.List(t.Context(), p, tool.Production, resolver.Filter{}, page)
		require.NoError(t, err)
		for _, item := range items {
			require.Equal(t, "1.0.0", item.Version, "the tenant's own hides the global one")
			slugs = append(slugs, item.Tool.Slug)
		}
		if page.After = next; next == "" {
			break
		}
	}
	require.Len(t, slugs, 451)
	require.IsIncreasing(t, slugs)

	items, _, err := b.resolver.List(t.Context(), p, tool.Production, resolver.Filter{Bucket: tool.BucketMCP},
		resolver.Page{})
	require.NoError(t, err)
	require.Len(t, items, 1)
	items, _, err = b.resolver.List(t.Context(), p, tool.Production, resolver.Filter{Search: "FETCH"}, resolver.Page{})
	require.NoError(t, err)
	require.Len(t, items, 1)
	_, _, err = b.resolver.List(t.Context(), p, tool.Production, resolver.Filter{}, resolver.Page{After: "!"})
	require.Equal(t, tool.Invalid, tool.KindOf(err))
}
