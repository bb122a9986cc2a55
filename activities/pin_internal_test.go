package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// nestings holds drafts of compositions by slug: of "wide3", that is three deep,
// each step but the last ones' is a wide2 and so on.
type nestings struct {
	resolver.Source

	steps int
}

func (n nestings) Entries(_ context.Context, tenant tool.TenantID, ref tool.Ref) (resolver.Candidates, error) {
	d := tool.Definition{Implementation: tool.HTTP, Config: json.RawMessage(`{"url":"https://example.com"}`)}
	if depth, _ := strconv.Atoi(strings.TrimPrefix(ref.Slug, "wide")); depth > 0 {
		steps := make([]string, n.steps)
		for i := range steps {
			steps[i] = fmt.Sprintf(`{"id":"s%d","tool":"wide%d"}`, i, depth-1)
		}
		d = tool.Definition{Implementation: tool.Composition, Config: json.RawMessage(`{"steps":[` + strings.Join(steps, ",") + `]}`)}
	}
	return resolver.Candidates{TenantActive: true, Entries: []resolver.Entry{{
		Tool: tool.Tool{ID: ref.Slug, Tenant: tenant, Slug: ref.Slug, Status: tool.Draft, Active: true, Version: "0.1.0", Definition: d},
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
	require.ErrorContains(t, err, "one call comes to more than 500 calls")
	require.Equal(t, maxCalls+1, p.calls, "it stops at the bound")

	p = &pinner{}
	for range maxPins / 400 {
		require.NoError(t, entry(7, "wide3", p))
	}
	err = entry(7, "wide3", p)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.ErrorContains(t, err, "are more than 2000")
}
