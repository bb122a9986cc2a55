package api

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// drawnSource has what was drawn for one tool.
type drawnSource struct{ resolver.Candidates }

func (s drawnSource) Entries(context.Context, tool.TenantID, tool.Ref) (resolver.Candidates, error) {
	c := s.Candidates
	c.Entries = slices.Clone(c.Entries) // The resolver raises their policies.
	return c, nil
}

func (drawnSource) Page(context.Context, tool.TenantID, resolver.PageQuery) (resolver.Candidates, error) {
	return resolver.Candidates{}, errors.New("not used")
}

func (drawnSource) Policies(context.Context, tool.TenantID, []string) (map[string]tool.Policy, error) {
	return nil, errors.New("not used")
}

func (drawnSource) Version(_ context.Context, tenant tool.TenantID, id, digest string) (*tool.Version, error) {
	return &tool.Version{
		ToolID: id, Tenant: tenant, Slug: "t", Digest: digest,
		Snapshot: tool.Snapshot{Definition: tool.Definition{Implementation: tool.HTTP}},
	}, nil
}

func (drawnSource) VersionsOf(context.Context, tool.TenantID, []string, []string) ([]*tool.Version, error) {
	return nil, errors.New("not used")
}

func (drawnSource) OverridesAt(
	context.Context, tool.TenantID, string, tool.OverrideRevisions,
) (tool.Overrides, error) {
	return tool.Overrides{}, errors.New("not used")
}

func (drawnSource) OverridesOf(
	context.Context, tool.TenantID, []string,
) (map[string]tool.Overrides, error) {
	return nil, errors.New("not used")
}

const drawnTenant tool.TenantID = "0197f000-0000-7000-8000-000000000001"

// drawer draws what a call depends on.
type drawer struct{ *rand.Rand }

func (d drawer) coin() bool { return d.IntN(2) == 0 }

func one[T any](d drawer, of ...T) T { return of[d.IntN(len(of))] }

func (d drawer) policy() tool.Policy {
	p := tool.Policy{
		EgressClass:        one[tool.Egress](d, "", "none", "read_only", "write", "teleport"),
		RequiresApproval:   d.coin(),
		PermissionPolicy:   one[tool.PermissionPolicy](d, "", "auto", "always_ask", "vote"),
		RequiredPermission: one(d, "", "", "a", "b"),
		TenantSlugs:        one(d, nil, nil, nil, []string{"acme"}, []string{"other"}),
	}
	if p.EgressClass == tool.EgressWrite {
		p.RequiresApproval = true // The database sees to it.
	}
	return p
}

func (d drawer) profiles() (out []tool.ProfileUse) {
	for i := range d.IntN(3) {
		out = append(out, tool.ProfileUse{Profile: tool.Profile{
			Name:               []string{"one", "two"}[i],
			Denied:             d.IntN(10) == 0,
			RequiresApproval:   d.coin(),
			PermissionPolicy:   one[tool.PermissionPolicy](d, "", "always_ask"),
			EgressClass:        one[tool.Egress](d, "", "read_only", "write"),
			RequiredPermission: one(d, "", "", "a", "b"),
		}})
	}
	return out
}

func (d drawer) candidates() resolver.Candidates {
	entry := resolver.Entry{Tool: tool.Tool{
		ID: "0197f000-0000-7000-8000-0000000000a1", Tenant: drawnTenant, Slug: "t", Version: "1.1.0",
		Status:     one(d, tool.Published, tool.Published, tool.Published, tool.Draft, tool.Disabled, tool.Deprecated),
		Active:     d.IntN(10) > 0,
		Quarantine: one(d, "", "", "", "", "changed"),
		Definition: tool.Definition{Implementation: tool.HTTP}, Policy: d.policy(),
	}}
	if d.IntN(4) == 0 {
		entry.Tool.Tenant = ""
	}
	for _, level := range []**tool.Override{&entry.Overrides.Tenant, &entry.Overrides.Platform} {
		if d.coin() {
			on := d.IntN(4) > 0
			*level = &tool.Override{Enabled: &on, RequiresApproval: d.coin()}
		}
	}
	for _, number := range []string{"1.0.0", "1.1.0"} {
		if d.IntN(5) > 0 {
			entry.Versions = append(entry.Versions, resolver.VersionInfo{
				ID: number, Number: number, Digest: strings.Repeat(number[2:3], 64),
				Published: d.IntN(4) > 0,
			})
		}
	}
	c := resolver.Candidates{TenantSlug: "acme", TenantActive: d.IntN(20) > 0}
	if d.IntN(20) > 0 {
		c.Entries = []resolver.Entry{entry}
	}
	return c
}

// What is explained of a call is what is decided about it: by the resolver, and by the policy with the
// profiles, the principal and the taint of the run. It is held to a table of its own, too.
func TestExplanationAgrees(t *testing.T) {
	t.Parallel()

	for seed := range uint64(20_000) {
		d := drawer{rand.New(rand.NewPCG(seed, 1))}
		p := tool.Principal{
			Tenant: drawnTenant, Subject: "user:ada",
			Permissions: one(d, nil, []string{"a"}, []string{"b"}, []string{"a", "b"}, []string{"*"}),
		}
		req := resolver.Request{
			Principal: p, Mode: one(d, tool.Production, tool.Debug),
			Ref: tool.Ref{Slug: "t", Constraint: one(d, "", "", "1.0.0", "^1", "^2")},
		}
		r := resolver.New(drawnSource{d.candidates()}, resolver.Options{})
		profiles := d.profiles()
		use := callUse{secret: d.coin(), rule: one(d, tool.TaintRules()...)}
		if d.coin() {
			use.stored = &tool.Taint{InvocationID: "c", Tool: "web_fetch", Version: "1.0.1", At: time.Unix(0, 0)}
			if use.rule != tool.TaintOff {
				with := *use.stored
				with.Rule = use.rule
				use.taint = &with
			}
		}

		e, err := r.Explain(t.Context(), req)
		require.NoError(t, err)
		got := showExplanation(e)
		if got.Code == "" {
			held := e.Policy
			held.Profiles = profiles
			explainPolicy(&got, p, held, nil, use)
		}

		resolved, err := r.Resolve(t.Context(), req)
		passed := !slices.ContainsFunc(got.Steps, func(s v1.Step) bool { return !s.Passed })
		require.Equal(t, got.Code == "", passed, "seed %d: %+v", seed, got.Steps)
		if err != nil {
			require.Equal(t, tool.KindOf(err), got.Code)
			continue
		}
		require.Equal(t, resolved.Version.Digest, got.Digest)
		now := resolved.Tool.Policy
		now.Profiles = profiles
		want := policy.Decide(policy.Input{Principal: p, Policy: now, Taint: use.taint, Secret: use.secret})
		require.Equal(t, want.Verdict, table(p, now, use))
		switch want.Verdict {
		case policy.Allow:
			require.Empty(t, got.Code)
			require.Empty(t, got.Detail)
		case policy.NeedsApproval:
			require.Empty(t, got.Code)
			require.Contains(t, got.Detail, "waits until a person has approved it")
		case policy.Deny:
			require.Equal(t, tool.Denied, got.Code)
		}
		for _, text := range want.Texts() {
			require.True(t, slices.ContainsFunc(got.Steps, func(s v1.Step) bool { return strings.Contains(s.Saw, text) }),
				"no step says %q: %+v", text, got.Steps)
		}
	}
}

// table is the verdict on a call, written down apart from the engine.
func table(p tool.Principal, of tool.Policy, use callUse) policy.Verdict {
	lacks := func(permission string) bool {
		return permission != "" && !slices.Contains(p.Permissions, permission) && !slices.Contains(p.Permissions, "*")
	}
	deny := lacks(of.RequiredPermission) || of.EgressClass == "teleport" || of.PermissionPolicy == "vote"
	writes := of.EgressClass == tool.EgressWrite
	ask := writes || of.RequiresApproval || of.PermissionPolicy == tool.PermissionAlwaysAsk
	for _, profile := range of.Profiles {
		deny = deny || profile.Denied || lacks(profile.RequiredPermission)
		writes = writes || profile.EgressClass == tool.EgressWrite
		ask = ask || profile.RequiresApproval || profile.PermissionPolicy == tool.PermissionAlwaysAsk || writes
	}
	if use.stored != nil && (writes || use.secret) {
		deny = deny || use.rule == tool.TaintDeny
		ask = ask || use.rule == tool.TaintApprove
	}
	switch {
	case deny:
		return policy.Deny
	case ask:
		return policy.NeedsApproval
	default:
		return policy.Allow
	}
}
