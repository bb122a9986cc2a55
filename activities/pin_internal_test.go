package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// nestings holds drafts of compositions by slug: of "wide3", that is three deep,
// each step is a wide2 and so on. What ends in 0 is none, and locked0 asks for a
// permission.
type nestings struct {
	resolver.Source

	steps int
}

func (n nestings) Entries(_ context.Context, tenant tool.TenantID, ref tool.Ref) (resolver.Candidates, error) {
	var policy tool.Policy
	if ref.Slug == "locked0" {
		policy.RequiredPermission = "orders.refund"
	}
	name := strings.TrimRight(ref.Slug, "0123456789")
	d := tool.Definition{Implementation: tool.HTTP, Config: json.RawMessage(`{"url":"https://example.com"}`)}
	if depth, _ := strconv.Atoi(strings.TrimPrefix(ref.Slug, name)); depth > 0 {
		steps := make([]string, n.steps)
		for i := range steps {
			steps[i] = fmt.Sprintf(`{"id":"s%d","tool":"%s%d"}`, i, name, depth-1)
		}
		d = tool.Definition{
			Implementation: tool.Composition, Config: json.RawMessage(`{"steps":[` + strings.Join(steps, ",") + `]}`),
		}
	}
	return resolver.Candidates{TenantActive: true, Entries: []resolver.Entry{{
		Tool: tool.Tool{
			ID: ref.Slug, Tenant: tenant, Slug: ref.Slug, Status: tool.Draft, Active: true, Version: "0.1.0", Definition: d,
			Policy: policy,
		},
	}}}, nil
}

func (nestings) Version(context.Context, tool.TenantID, string, string) (*tool.Version, error) {
	return nil, &tool.Error{Kind: tool.NotFound, Msg: "no such version"}
}

// Nothing of a draft was judged by publishing, and what a published composition
// calls may have grown since: a plan is bounded where it is made.
func TestPlansAreBounded(t *testing.T) {
	t.Parallel()

	ctx, who := t.Context(), tool.Principal{Tenant: "tenant", Subject: "ada"}
	entry := func(steps int, slug string, p *pinner) error {
		source := resolver.New(nestings{steps: steps}, resolver.Options{})
		p.a, p.principal, p.mode = &Activities{Config: Config{Resolver: source}}, who, tool.Debug
		r, err := source.Resolve(ctx, resolver.Request{Principal: who, Ref: tool.Ref{Slug: slug}, Mode: tool.Debug})
		require.NoError(t, err)
		_, err = p.pin(ctx, r, 0)
		return err
	}
	p := &pinner{}
	require.NoError(t, entry(7, "wide3", p))
	require.Equal(t, 1+7+49+343, p.calls)

	p = &pinner{}
	err := entry(50, "wide4", p) // Six million calls.
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.ErrorContains(t, err, "one call makes more than 500 calls")
	require.Equal(t, maxCalls+1, p.calls, "it stops at the bound")

	p = &pinner{}
	for range maxPins / 400 {
		require.NoError(t, entry(7, "wide3", p))
	}
	err = entry(7, "wide3", p)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.ErrorContains(t, err, "has more than 2000")
}

// limited is tools whose calls an override limits to ten seconds.
type limited struct{ nestings }

func (l limited) Entries(ctx context.Context, tenant tool.TenantID, ref tool.Ref) (resolver.Candidates, error) {
	found, err := l.nestings.Entries(ctx, tenant, ref)
	for i := range found.Entries {
		found.Entries[i].Overrides.Tenant = &tool.Override{
			Revision: 1, Adaptation: tool.Adaptation{Limits: &tool.CallLimits{TimeoutSeconds: 10}},
		}
	}
	return found, err
}

// The timeout of a node is that of its calls, within the limits of the tool's overrides.
func TestTimeoutOfANodeIsWithinTheLimits(t *testing.T) {
	t.Parallel()

	who := tool.Principal{Tenant: "tenant", Subject: "ada"}
	request := resolver.Request{Principal: who, Ref: tool.Ref{Slug: "wide0"}, Mode: tool.Debug}
	free, err := resolver.New(nestings{}, resolver.Options{}).Resolve(t.Context(), request)
	require.NoError(t, err)
	bound, err := resolver.New(limited{}, resolver.Options{}).Resolve(t.Context(), request)
	require.NoError(t, err)
	for _, tt := range []struct {
		of          *resolver.Resolved
		given, want float64
	}{{free, 0, 30}, {free, 300, 300}, {bound, 0, 10}, {bound, 300, 10}, {bound, 5, 5}} {
		before := tt.of.Version.Snapshot.Execution
		got := timed(tt.of, tt.given).Version.Snapshot.Execution
		require.InDelta(t, tt.want, got.Timeout().Seconds(), 0.001, "%v", tt)
		require.Equal(t, before, tt.of.Version.Snapshot.Execution, "the version is shared")
	}
}

// shop is the agents of a tenant: one that has a composition nobody may use who
// may not use its steps.
type shop struct{ Agents }

func (shop) FindAgent(_ context.Context, tenant tool.TenantID, _ string) (agent.Agent, error) {
	return agent.Agent{
		ID: "desk-id", Tenant: tenant, Slug: "desk", Status: tool.Draft, Version: "0.1.0", Definition: agent.Definition{
			Model: "scripted/desk", Tools: []tool.Ref{{Slug: "locked1"}, {Slug: "wide1"}},
		},
	}, nil
}

func (s shop) FindAgentVersions(
	ctx context.Context, tenant tool.TenantID, id string,
) (agent.Agent, []agent.Version, error) {
	found, _ := s.FindAgent(ctx, tenant, id)
	versions, err := s.ListAgentVersions(ctx, tenant, id)
	return found, versions, err
}

func (shop) ListAgentVersions(context.Context, tool.TenantID, string) ([]agent.Version, error) {
	return nil, nil
}

// A composition is no way to a tool, and no hindrance to an agent's run: who may
// not use a step has the agent without it, as with a tool itself.
func TestCompositionsOfToolsThatMayNotBeUsedAreLeftOut(t *testing.T) {
	t.Parallel()

	a := &Activities{
		Config:      Config{Resolver: resolver.New(nestings{steps: 2}, resolver.Options{}), Agents: shop{}},
		definitions: cache.New[definitionKey, agent.Definition](cache.Options{Entries: 1}),
	}
	slugs := func(permissions ...string) (out []string) {
		who := tool.Principal{Tenant: "tenant", Subject: "ada", Permissions: permissions}
		plan, err := a.agentPlan(t.Context(), who, agent.Run{AgentID: "desk-id", Mode: tool.Debug})
		require.NoError(t, err)
		for _, pin := range plan.Tools {
			out = append(out, pin.Slug)
		}
		return out
	}
	require.Equal(t, []string{"wide1"}, slugs())
	require.Equal(t, []string{"locked1", "wide1"}, slugs("orders.refund"))
}
