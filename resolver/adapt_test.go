package resolver_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

const orderSchema = `{"type":"object","properties":{"id":{"type":"string"},"limit":{"type":"integer"},"lang":true},
	"required":["id","limit"]}`

// orders adds a tool of the platform with an input schema and limits of its own.
func orders(t *testing.T, b bench, owner tool.TenantID) tool.Tool {
	t.Helper()
	return b.add(t, owner, "findOrder", func(h *tool.Tool) {
		h.InputSchema = json.RawMessage(orderSchema)
		h.Execution = tool.Execution{TimeoutSeconds: 20, MaxAttempts: 2}
	}, "1.0.0")
}

func adaptation(description, defaults string, limits tool.CallLimits) tool.Adaptation {
	a := tool.Adaptation{Description: description, Limits: &limits}
	if err := json.Unmarshal([]byte(defaults), &a.Defaults); err != nil {
		panic(err)
	}
	return a
}

// TestOverridesAdaptAVersion proves that every path that reads a version shows what overrides change, that the
// stored version stays what it was, and that an edit is seen by the next reader.
func TestOverridesAdaptAVersion(t *testing.T) {
	t.Parallel()

	b := setup(t)
	head := orders(t, b, "")
	plain, err := b.resolver.Resolve(t.Context(), b.request("findOrder"))
	require.NoError(t, err)
	require.Zero(t, plain.Overrides)

	on := true
	b.override(t, tool.Override{
		ToolID: head.ID, Enabled: &on, Adaptation: adaptation("For all.", `{"limit":50,"lang":"en"}`,
			tool.CallLimits{TimeoutSeconds: 10, MaxAttempts: 5}),
	})
	b.override(t, tool.Override{
		Tenant: b.acme, ToolID: head.ID, Adaptation: adaptation("Ours.", `{"limit":5,"gone":1}`,
			tool.CallLimits{TimeoutSeconds: 15}),
	})
	check := func(v *tool.Version) {
		t.Helper()
		require.Equal(t, plain.Version.Digest, v.Digest, "the version is the stored one")
		require.Equal(t, "Ours.", v.Snapshot.Description)
		require.InDelta(t, 10, v.Snapshot.Execution.TimeoutSeconds, 0, "the narrower limit applies")
		require.Equal(t, 2, v.Snapshot.Execution.MaxAttempts, "a limit does not widen")
		require.JSONEq(t, `{"type":"object","properties":{"id":{"type":"string"},"limit":{"type":"integer","default":5},
			"lang":true},"required":["id"]}`, string(v.Snapshot.InputSchema))
		require.Equal(t, map[string]json.RawMessage{
			"limit": json.RawMessage("5"), "lang": json.RawMessage(`"en"`),
		}, v.Defaults)
	}
	got, err := b.resolver.Resolve(t.Context(), b.request("findOrder"))
	require.NoError(t, err)
	check(got.Version)
	require.Equal(t, "Ours.", got.Tool.Description)
	items, _, err := b.resolver.List(t.Context(), b.request("findOrder").Principal, tool.Production,
		resolver.Filter{Search: "ours."}, resolver.Page{})
	require.NoError(t, err)
	require.Len(t, items, 1, "a tool is found by the description that it has here")
	require.Equal(t, "Ours.", items[0].Tool.Description)
	versions, err := b.resolver.Versions(t.Context(), b.acme, items)
	require.NoError(t, err)
	check(versions[0])

	fresh := resolver.New(b.store, resolver.Options{}) // A worker that resolved nothing.
	pinned := got.Overrides
	v, err := fresh.Adapted(t.Context(), b.acme, head.ID, got.Version.Digest, pinned)
	require.NoError(t, err)
	check(v)

	b.override(t, tool.Override{Tenant: b.acme, ToolID: head.ID, Adaptation: tool.Adaptation{Description: "Edited."}})
	now, err := b.resolver.Resolve(t.Context(), b.request("findOrder"))
	require.NoError(t, err)
	require.Equal(t, "Edited.", now.Version.Snapshot.Description)
	require.JSONEq(t, "50", string(now.Version.Defaults["limit"]))
	require.NoError(t, b.store.Platform().DeleteOverride(t.Context(), b.acme, head.ID, 0))
	for _, r := range []*resolver.Resolver{b.resolver, fresh, resolver.New(b.store, resolver.Options{})} {
		v, err := r.Adapted(t.Context(), b.acme, head.ID, got.Version.Digest, pinned)
		require.NoError(t, err)
		check(v)
	}

	stored, err := b.resolver.Version(t.Context(), b.acme, head.ID, got.Version.Digest)
	require.NoError(t, err)
	require.Equal(t, "version 1.0.0", stored.Snapshot.Description)
	require.Nil(t, stored.Defaults)
	theirs := b.request("findOrder")
	theirs.Principal.Tenant = b.other
	other, err := b.resolver.Resolve(t.Context(), theirs)
	require.NoError(t, err)
	require.Equal(t, "For all.", other.Version.Snapshot.Description, "one tenant's override is not another's")
	_, err = fresh.Adapted(t.Context(), b.other, head.ID, got.Version.Digest, pinned)
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}

func TestAdaptationsAreExplained(t *testing.T) {
	t.Parallel()

	b := setup(t)
	head := orders(t, b, b.acme)
	b.override(t, tool.Override{
		Tenant: b.acme, ToolID: head.ID, ChangedBy: "key:ada", Reason: "shorter",
		Adaptation: adaptation("Ours.", `{"limit":5}`, tool.CallLimits{TimeoutSeconds: 2.5, InlineBytes: 4096}),
	})
	why, err := b.resolver.Explain(t.Context(), b.request("findOrder"))
	require.NoError(t, err)
	require.Contains(t, why.Steps, resolver.Step{
		Rule: resolver.RuleOverride, Passed: true,
		Saw: `the tenant, key:ada, changed the description, the default of "limit", timeout_s to at most 2.5, ` +
			`inline_bytes to at most 4096 (revision 1): shorter`,
	})
	require.Equal(t, tool.OverrideRevisions{Tenant: 1}, why.Overrides)

	standings, err := b.resolver.Standings(t.Context(), b.acme, []tool.Tool{head})
	require.NoError(t, err)
	require.True(t, standings[0].Enabled)
	require.Equal(t, "on: a tenant's own tool is, until it is switched off", standings[0].Why)
	require.Equal(t, "Ours.", standings[0].Description)
}
