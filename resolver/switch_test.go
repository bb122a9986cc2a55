package resolver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// TestSwitches holds every combination of decisions to the rule: the tenant's comes before
// the platform's; without either a global tool is off, and a tenant's own is on.
func TestSwitches(t *testing.T) {
	t.Parallel()

	on, off := true, false
	for _, global := range []bool{true, false} {
		for _, tenant := range []*bool{nil, &on, &off} {
			for _, platform := range []*bool{nil, &on, &off} {
				if platform != nil && !global {
					continue // The platform does not decide about a tenant's own tool.
				}
				b := setup(t)
				owner := b.acme
				if global {
					owner = ""
				}
				head := b.add(t, owner, "findOrder", nil, "1.0.0")
				_ = b.store.Platform().DeleteOverride(t.Context(), "", head.ID, 0)
				if tenant != nil {
					b.override(t, tool.Override{Tenant: b.acme, ToolID: head.ID, Enabled: tenant})
				}
				if platform != nil {
					b.override(t, tool.Override{ToolID: head.ID, Enabled: platform, Reason: "policy of May"})
				}
				want := !global
				switch {
				case tenant != nil:
					want = *tenant
				case platform != nil:
					want = *platform
				}
				for _, ref := range []string{"findOrder", head.ID} {
					_, err := b.resolver.Resolve(t.Context(), b.request(ref))
					if want {
						require.NoError(t, err)
						continue
					}
					require.Equal(t, tool.Conflict, tool.KindOf(err))
					require.ErrorContains(t, err, `tool "findOrder" is switched off`)
				}
			}
		}
	}
}

func TestSwitchesAreExplained(t *testing.T) {
	t.Parallel()

	b := setup(t)
	off := false
	head := b.add(t, "", "findOrder", nil, "1.0.0")
	step := func() resolver.Step {
		why, err := b.resolver.Explain(t.Context(), b.request("findOrder"))
		require.NoError(t, err)
		for _, s := range why.Steps {
			if s.Rule == resolver.RuleSwitch {
				return s
			}
		}
		t.Fatal("the rule was not applied")
		return resolver.Step{}
	}
	require.True(t, step().Passed)
	b.override(t, tool.Override{Tenant: b.acme, ToolID: head.ID, Enabled: &off, Reason: "audit", ChangedBy: "key:ada"})
	require.Equal(t, resolver.Step{Rule: resolver.RuleSwitch, Saw: "switched off by the tenant, key:ada: audit"}, step())
	require.NoError(t, b.store.Platform().DeleteOverride(t.Context(), b.acme, head.ID, 0))
	require.NoError(t, b.store.Platform().DeleteOverride(t.Context(), "", head.ID, 0))
	require.Equal(t, "off: a global tool is, until it is switched on", step().Saw)
}

// TestOverridesOnlyRaise proves that a decision asks for an approval and never takes one
// away.
func TestOverridesOnlyRaise(t *testing.T) {
	t.Parallel()

	for _, asks := range []bool{true, false} {
		for _, tenant := range []bool{true, false} {
			for _, platform := range []bool{true, false} {
				b := setup(t)
				head := b.add(t, "", "findOrder", func(t *tool.Tool) { t.RequiresApproval = asks }, "1.0.0")
				on := true
				b.override(t, tool.Override{Tenant: b.acme, ToolID: head.ID, Enabled: &on, RequiresApproval: tenant})
				b.override(t, tool.Override{ToolID: head.ID, RequiresApproval: platform})
				got, err := b.resolver.Resolve(t.Context(), b.request("findOrder"))
				require.NoError(t, err)
				require.Equal(t, asks || tenant || platform, got.Tool.RequiresApproval)
				why, err := b.resolver.Explain(t.Context(), b.request("findOrder"))
				require.NoError(t, err)
				require.Equal(t, asks || tenant || platform, why.Policy.RequiresApproval)
			}
		}
	}
}
