package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// What the API explains of a call is what PostgreSQL admits and the policy decides: settings of tools,
// overrides, profiles, permissions, taint and rules are drawn.
func TestExplanationAgreesWithAdmission(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := storetest.NewFixture(t, b.Database)
	random := rand.New(rand.NewPCG(7, 7))
	coin := func(n int) bool { return random.IntN(n) == 0 }
	resolve := resolver.New(b.Store, resolver.Options{})
	keys := []string{b.Key(t, f.Tenant, "tools.read", "tools.write", "a"), b.Key(t, f.Tenant, "tools.read", "tools.write")}
	held := [][]string{{"tools.read", "tools.write", "a"}, {"tools.read", "tools.write"}}
	classes := []tool.Egress{tool.EgressNone, tool.EgressReadOnly, tool.EgressReadOnly, tool.EgressWrite}
	seen, conn := map[string]int{}, b.Conn(t)
	for i := range 200 {
		slug := fmt.Sprintf("drawn%d", i)
		set := tool.Policy{
			EgressClass:      classes[random.IntN(len(classes))],
			PermissionPolicy: tool.PermissionAuto, RequiresApproval: coin(6),
		}
		if coin(6) {
			set.PermissionPolicy = tool.PermissionAlwaysAsk
		}
		if coin(4) {
			set.RequiredPermission = "a"
		}
		made, version := f.Publish(t, slug, set)
		if coin(3) {
			on := !coin(4)
			_, err := b.Store.SetOverride(t.Context(), tool.Override{
				Tenant: f.Tenant, ToolID: made.ID, Enabled: &on, RequiresApproval: coin(3),
			})
			require.NoError(t, err)
		}
		if coin(2) {
			p := tool.Profile{Name: slug, Denied: coin(8), RequiresApproval: coin(5)}
			if coin(5) {
				p.EgressClass = tool.EgressWrite
			}
			if coin(4) {
				p.RequiredPermission = "a"
			}
			if coin(3) {
				p.Rate = &tool.Rate{Calls: 1, Per: tool.PerDay, Burst: 1}
			}
			stored, err := b.Store.CreateProfile(t.Context(), profile.Profile{Tenant: f.Tenant, Profile: p})
			require.NoError(t, err)
			_, err = b.Store.SetAssignment(t.Context(), profile.Assignment{
				Tenant: f.Tenant, ToolID: made.ID, ProfileID: stored.ID,
			})
			require.NoError(t, err)
		}
		rule := tool.TaintRules()[random.IntN(3)]
		_, err := b.Store.SetTenantTaint(t.Context(), f.Tenant, rule)
		require.NoError(t, err)
		tainted, secret := coin(2), coin(2)
		_, err = conn.Exec(t.Context(), `update runs set taint = case when $3 then
				jsonb_build_object('run_id', id, 'invocation_id', id, 'tool', 'web_fetch', 'version', '1.0.1', 'turn', 1, 'at', now()) end,
			plan = json_build_object('tools', json_build_array(json_build_object('tool_id', $4::text, 'secret', $5::boolean)))
			where tenant_id = $1 and id = $2`, f.Tenant, f.Run.ID, tainted, made.ID, secret)
		require.NoError(t, err)

		who := random.IntN(2)
		p := tool.Principal{Tenant: f.Tenant, Subject: "key:" + keys[who], Permissions: held[who]}
		asked := b.do(t, http.MethodGet, "/v1/tools/"+slug+"/explain?run="+f.Run.ID, "", keys[who])
		e := as[v1.Explanation](t, asked, http.StatusOK)
		name := fmt.Sprintf("%d: %+v: %s: %+v", i, set, e.Detail, e.Steps)

		resolved, err := resolve.Resolve(t.Context(), resolver.Request{Principal: p, Ref: tool.Ref{Slug: slug}})
		if err != nil {
			seen["refused"]++
			require.Equal(t, tool.KindOf(err), e.Code, name)
			continue
		}
		require.Equal(t, resolved.Version.Digest, e.Digest, name)
		call := f.Lone(t)
		call.EffectID, call.Turn, call.Principal = uuid.NewString(), 2, p
		call.VersionIdentity = tool.VersionIdentity{
			ToolID: made.ID, Slug: slug, Version: version.Number, Digest: version.Digest, Implementation: tool.HTTP,
		}
		ticket, err := b.Store.Admit(t.Context(), ledger.AdmitRequest{
			Entry: call, Repeatable: true, Send: true, Secret: secret,
		})
		require.NoError(t, err, name)
		d := policy.Decide(policy.Input{Principal: p, Policy: ticket.Policy, Taint: ticket.Taint, Secret: secret})
		seen[string(d.Verdict)]++
		invocation, err := b.Store.FindInvocation(t.Context(), f.Tenant, call.InvocationID)
		require.NoError(t, err)
		var buckets int
		require.NoError(t, conn.QueryRow(t.Context(), `select count(*) from rate_buckets where tenant_id = $1 and tool_id = $2`,
			f.Tenant, made.ID).Scan(&buckets))
		switch d.Verdict {
		case policy.Allow:
			require.Empty(t, e.Code, name)
			require.Empty(t, e.Detail, name)
			require.Equal(t, tool.StatusRunning, invocation.Status, name)
		case policy.NeedsApproval:
			require.Empty(t, e.Code, name)
			require.Contains(t, e.Detail, "needs approval", name)
			require.Equal(t, tool.StatusPending, invocation.Status, name)
			require.Zero(t, buckets, "it takes its token when it is approved: %s", name)
		case policy.Deny:
			require.Equal(t, tool.Denied, e.Code, name)
			require.Zero(t, buckets, "a call that is denied takes no token: %s", name)
		}
		if tainted {
			require.NotNil(t, e.Taint, name)
		}
	}
	for _, what := range []string{"refused", "allow", "needs_approval", "deny"} {
		require.Greater(t, seen[what], 10, "%v", seen)
	}
	raw, err := json.Marshal(seen)
	require.NoError(t, err)
	t.Log(string(raw))
}
