package resolver_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// TestGroup proves that a group has the tenant's own tools and the global ones of its categories, each only if the
// principal may use it, and nothing for another kind of caller.
func TestGroup(t *testing.T) {
	t.Parallel()

	b := setup(t)
	off := false
	of := func(category string, edit func(*tool.Tool)) func(*tool.Tool) {
		return func(h *tool.Tool) {
			h.Category = category
			if edit != nil {
				edit(h)
			}
		}
	}
	b.add(t, "", "webSearch", of("web", nil), "1.0.0")
	b.add(t, "", "webAdmin", of("web", func(h *tool.Tool) { h.RequiredPermission = "admin" }), "1.0.0")
	b.add(t, "", "listEntities", of("entity", nil), "1.0.0")
	b.add(t, "", "theirs", of("web", func(h *tool.Tool) { h.TenantSlugs = []string{"other"} }), "1.0.0")
	b.add(t, "", "sly", of(agent.UserFacing, nil), "1.0.0")
	switched := b.add(t, "", "webFetch", of("web", nil), "1.0.0")
	b.override(t, tool.Override{Tenant: b.acme, ToolID: switched.ID, Enabled: &off})
	b.add(t, b.acme, "ours", of("shop", nil), "1.0.0")
	b.add(t, b.acme, "listEntities", of("shop", nil), "2.0.0")
	b.add(t, b.acme, "forPeople", of("", func(h *tool.Tool) { h.Interaction.Audience = tool.AudienceUser }), "1.0.0")
	b.add(t, b.acme, "old", of("", func(h *tool.Tool) { h.Status = tool.Deprecated }), "1.0.0")
	b.add(t, b.acme, "draft", of("", func(h *tool.Tool) { h.Status = tool.Draft }))
	b.add(t, b.other, "foreign", of("web", nil), "1.0.0")

	names := func(permissions []string, groups ...string) (out []string) {
		t.Helper()
		p := b.request("x").Principal
		p.Permissions = permissions
		found, more, err := b.resolver.Group(t.Context(), p, groups, tool.Production)
		require.NoError(t, err)
		require.False(t, more)
		for _, r := range found {
			require.NotNil(t, r.Version)
			out = append(out, r.Name()+"@"+r.Version.Number)
		}
		return out
	}
	require.Empty(t, names([]string{"*"}))
	own := []string{"listEntities@2.0.0", "ours@1.0.0"}
	require.Equal(t, own, names([]string{"*"}, agent.UserFacing))
	require.Equal(t, own, names([]string{"*"}, "entity"), "the tenant's own tool hides the global one")
	require.Equal(t, append(own, "webAdmin@1.0.0", "webSearch@1.0.0"), names([]string{"admin"}, "entity", "web"))
	require.Equal(t, append(own, "webSearch@1.0.0"), names(nil, "web"), "what a principal may not use is left out")

	for i := range agent.MaxGrouped {
		b.add(t, b.acme, fmt.Sprintf("many%03d", i), nil, "1.0.0")
	}
	found, more, err := b.resolver.Group(t.Context(), b.request("x").Principal, []string{"web"}, tool.Production)
	require.NoError(t, err)
	require.True(t, more)
	require.Len(t, found, agent.MaxGrouped)
}
