package resolver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

func refs(t *testing.T, texts ...string) []tool.Ref {
	t.Helper()

	out := make([]tool.Ref, len(texts))
	for i, text := range texts {
		ref, err := tool.ParseRef(text)
		require.NoError(t, err)
		out[i] = ref
	}
	return out
}

func TestBind(t *testing.T) {
	t.Parallel()

	b := setup(t)
	p := b.request("x").Principal
	b.add(t, b.acme, "sendMail", nil, "1.0.0")
	find := b.add(t, b.acme, "findOrder", nil, "1.0.0", "2.0.0")
	b.add(t, b.acme, "oldTool", status(tool.Deprecated), "1.0.0")
	b.add(t, b.acme, "draftTool", status(tool.Draft))

	bound, unavailable, err := b.resolver.Bind(t.Context(), p, refs(t, "sendMail", "oldTool", "findOrder@^1"),
		tool.Production)
	require.NoError(t, err)
	require.Empty(t, unavailable)
	var names []string
	for _, r := range bound {
		names = append(names, r.Version.String())
	}
	require.Equal(t, []string{"findOrder@1.0.0", "oldTool@1.0.0", "sendMail@1.0.0"}, names)
	require.True(t, bound[1].Deprecated)

	_, err = b.resolver.BindNew(t.Context(), p, refs(t, "oldTool@1.0.0"), tool.Production)
	require.Equal(t, tool.Conflict, tool.KindOf(err))

	some := refs(t, "findOrder", "missingTool", "draftTool", "sendMail")
	bound, unavailable, err = b.resolver.Bind(t.Context(), p, some, tool.Production)
	require.NoError(t, err)
	require.Len(t, bound, 2, "a run begins with those that can be used")
	require.Len(t, unavailable, 2)
	require.Equal(t, some[1], unavailable[0].Ref)
	require.Equal(t, tool.NotFound, unavailable[0].Err.Kind)
	require.Equal(t, some[2], unavailable[1].Ref)
	require.Equal(t, tool.Conflict, unavailable[1].Err.Kind)
	refusal := resolver.RefuseRun("desk", unavailable)
	require.Equal(t, tool.Conflict, tool.KindOf(refusal))
	require.Contains(t, tool.AsError(refusal).Msg, `missingTool (not_found: tool "missingTool" not found)`)
	require.NoError(t, resolver.RefuseRun("desk", nil))

	_, err = b.resolver.BindNew(t.Context(), p, some, tool.Production)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.Equal(t, `2 of 4 tools cannot be bound: missingTool (not_found: tool "missingTool" not found); `+
		`draftTool (conflict: tool "draftTool" is a draft: publish it first, or use debug mode)`, tool.AsError(err).Msg)

	_, _, err = b.resolver.Bind(t.Context(), p, refs(t, "findOrder@^1", find.ID), tool.Production)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.Contains(t, tool.AsError(err).Msg, `findOrder@^1 and `+find.ID+` both give the model a tool named "findOrder"`)

	bound, _, err = b.resolver.Bind(t.Context(), p, nil, tool.Production)
	require.NoError(t, err)
	require.Empty(t, bound)
}

// A tool that the principal may not use is absent from the tools of an agent
// that exists, and stops one that is about to be published.
func TestBindLeavesOutWhatIsNotPermitted(t *testing.T) {
	t.Parallel()

	b := setup(t)
	p := b.request("x").Principal
	b.add(t, b.acme, "sendMail", nil, "1.0.0")
	b.add(t, b.acme, "refundOrder", func(t *tool.Tool) { t.RequiredPermission = "orders.refund" }, "1.0.0")
	both := refs(t, "refundOrder", "sendMail")

	bound, unavailable, err := b.resolver.Bind(t.Context(), p, both, tool.Production)
	require.NoError(t, err)
	require.Empty(t, unavailable, "what one may not use is not spoken of")
	require.Len(t, bound, 1)
	require.Equal(t, "sendMail", bound[0].Name())
	_, err = b.resolver.BindNew(t.Context(), p, both, tool.Production)
	require.Equal(t, tool.Denied, tool.KindOf(err))

	p.Permissions = append(p.Permissions, "orders.refund")
	bound, _, err = b.resolver.Bind(t.Context(), p, both, tool.Production)
	require.NoError(t, err)
	require.Len(t, bound, 2)
}

func TestChooseAgent(t *testing.T) {
	t.Parallel()

	a := agent.Agent{
		ID: "a", Slug: "helper", Status: tool.Published, Version: "1.1.0", Definition: agent.Definition{Name: "Helper"},
	}
	digest, err := a.Definition.Digest()
	require.NoError(t, err)
	versions := []agent.Version{
		{ID: "1", Number: "1.0.0", Digest: "x", Published: true},
		{ID: "2", Number: "1.1.0", Digest: digest},
		{ID: "3", Number: "2.0.0-rc.1", Digest: "y", Published: true},
	}
	choose := func(a agent.Agent, constraint string, mode tool.Mode) (string, tool.Kind) {
		v, err := resolver.ChooseAgent(a, versions, constraint, mode)
		if err != nil {
			return "", tool.KindOf(err)
		}
		return v.Number, ""
	}
	draft, disabled, edited := a, a, a
	draft.Status, disabled.Status, edited.Instructions = tool.Draft, tool.Disabled, "Be brief."
	tests := []struct {
		name       string
		agent      agent.Agent
		constraint string
		mode       tool.Mode
		want       string
		kind       tool.Kind
	}{
		{"highest published", a, "", tool.Production, "1.0.0", ""},
		{"head that is a version", a, "", tool.Debug, "1.1.0", ""},
		{"head that is a draft", edited, "", tool.Debug, "1.1.0-draft", ""},
		{"unpublished in debug mode", a, "^1.1", tool.Debug, "1.1.0", ""},
		{"unpublished in production", a, "^1.1", tool.Production, "", tool.NotFound},
		{"prerelease by name", a, "2.0.0-rc.1", tool.Production, "2.0.0-rc.1", ""},
		{"draft in production", draft, "", tool.Production, "", tool.Conflict},
		{"disabled", disabled, "", tool.Debug, "", tool.Conflict},
		{"malformed", a, "best", tool.Production, "", tool.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, kind := choose(tt.agent, tt.constraint, tt.mode)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.kind, kind)
		})
	}
}
