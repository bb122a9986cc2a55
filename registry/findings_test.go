package registry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/quality"
	"github.com/toolcrib/toolcrib/tool"
)

// A change has a finder among the tools of the tenant, and a strict publish refuses what is found.
func TestFindingsOfTools(t *testing.T) {
	t.Parallel()

	b := setup(t)
	change := spec("cancelOrder", func(s *definition.ToolSpec) { s.RequiredPermission = "orders.cancel" })
	_, _, err := b.registry.Create(t.Context(), b.ada, change)
	require.NoError(t, err)
	codes := func() (out []quality.Code) {
		found, err := b.registry.Findings(t.Context(), b.ada, tool.Ref{Slug: "cancelOrder"})
		require.NoError(t, err)
		for _, f := range found {
			out = append(out, f.Code)
		}
		return out
	}
	require.Equal(t, []quality.Code{
		quality.DescriptionShort, quality.DescriptionWhen, quality.DescriptionWhenNot, quality.InputUndescribed,
		quality.NoFinder,
	}, codes())
	_, _, err = b.registry.Create(t.Context(), b.ada, spec("listOrders"))
	require.NoError(t, err)
	require.NotContains(t, codes(), quality.NoFinder)

	found, err := b.registry.Findings(t.Context(), b.ada, tool.Ref{Slug: "cancelOrder"})
	require.NoError(t, err)
	err = registry.RefuseFindings("cancelOrder", found)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.ErrorContains(t, err, "description-short")
	require.NoError(t, registry.RefuseFindings("cancelOrder", nil))
	_, err = b.registry.Findings(t.Context(), b.bob, tool.Ref{Slug: "cancelOrder"})
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}
