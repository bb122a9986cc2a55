package policy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/tool"
)

func TestDecide(t *testing.T) {
	t.Parallel()

	clerk := tool.Principal{Permissions: []string{"orders.read"}}
	tests := []struct {
		name    string
		in      policy.Input
		verdict policy.Verdict
		rules   []policy.Rule
		text    string
	}{
		{name: "nothing restricts", verdict: policy.Allow, text: "allowed"},
		{
			name: "reading outside is free",
			in: policy.Input{
				Policy: tool.Policy{EgressClass: tool.EgressReadOnly, PermissionPolicy: tool.PermissionAuto},
			},
			verdict: policy.Allow,
			text:    "allowed",
		},
		{
			name:    "writing outside waits for a person",
			in:      policy.Input{Policy: tool.Policy{EgressClass: tool.EgressWrite}},
			verdict: policy.NeedsApproval, rules: []policy.Rule{policy.RuleEgress},
			text: "needs approval: the tool writes outside the platform (egress class write)",
		},
		{
			name:    "always_ask waits for a person",
			in:      policy.Input{Policy: tool.Policy{PermissionPolicy: tool.PermissionAlwaysAsk}},
			verdict: policy.NeedsApproval, rules: []policy.Rule{policy.RulePermissionPolicy},
			text: "needs approval: a person must approve every call (permission policy always_ask)",
		},
		{
			name:    "the flag waits for a person",
			in:      policy.Input{Policy: tool.Policy{RequiresApproval: true}},
			verdict: policy.NeedsApproval, rules: []policy.Rule{policy.RuleRequiresApproval},
			text: "needs approval: the tool requires an approval of every call",
		},
		{
			name:    "a permission is held",
			in:      policy.Input{Principal: clerk, Policy: tool.Policy{RequiredPermission: "orders.read"}},
			verdict: policy.Allow, text: "allowed",
		},
		{
			name: "a permission is missing, and that is the strictest",
			in: policy.Input{
				Principal: clerk, Policy: tool.Policy{RequiredPermission: "orders.refund", EgressClass: tool.EgressWrite},
			},
			verdict: policy.Deny, rules: []policy.Rule{policy.RulePermission, policy.RuleEgress},
			text: "denied: the caller lacks the permission that the tool requires",
		},
		{
			name:    "an egress class of tomorrow is denied",
			in:      policy.Input{Policy: tool.Policy{EgressClass: "teleport"}},
			verdict: policy.Deny, rules: []policy.Rule{policy.RuleEgress},
			text: `denied: the tool's egress class "teleport" is unknown`,
		},
		{
			name:    "a permission policy of tomorrow is denied",
			in:      policy.Input{Policy: tool.Policy{PermissionPolicy: "vote"}},
			verdict: policy.Deny, rules: []policy.Rule{policy.RulePermissionPolicy},
			text: `denied: the tool's permission policy "vote" is unknown`,
		},
		{
			name: "a tainted run waits before it uses a credential",
			in:   policy.Input{Secret: true, Taint: taint(tool.TaintApprove)}, verdict: policy.NeedsApproval,
			rules: []policy.Rule{policy.RuleTaint},
			text: "needs approval: the run has an untrusted result, of web_fetch@1.0.1 (call c-1, 2026-05-01T12:00:00Z), " +
				"and the call uses a credential",
		},
		{
			name:    "a tainted run is denied to write, where the tenant decided that",
			in:      policy.Input{Policy: tool.Policy{EgressClass: tool.EgressWrite}, Taint: taint(tool.TaintDeny)},
			verdict: policy.Deny, rules: []policy.Rule{policy.RuleEgress, policy.RuleTaint},
			text: "denied: the run has an untrusted result, of web_fetch@1.0.1 (call c-1, 2026-05-01T12:00:00Z), " +
				"and the call writes outside the platform",
		},
		{
			name: "what a profile treats as writing counts",
			in: policy.Input{
				Policy: within(tool.Profile{Name: "w", EgressClass: tool.EgressWrite}), Taint: taint(tool.TaintDeny),
			},
			verdict: policy.Deny, rules: []policy.Rule{policy.RuleProfile, policy.RuleTaint},
			text: "denied: the run has an untrusted result, of web_fetch@1.0.1 (call c-1, 2026-05-01T12:00:00Z), " +
				"and the call writes outside the platform",
		},
		{
			name:    "a tainted run reads on",
			in:      policy.Input{Policy: tool.Policy{EgressClass: tool.EgressReadOnly}, Taint: taint(tool.TaintDeny)},
			verdict: policy.Allow, text: "allowed",
		},
		{
			name:    "the rule is off",
			in:      policy.Input{Secret: true, Taint: taint(tool.TaintOff)},
			verdict: policy.Allow, text: "allowed",
		},
		{
			name:    "a rule of tomorrow denies",
			in:      policy.Input{Secret: true, Taint: taint("ask_twice")},
			verdict: policy.Deny, rules: []policy.Rule{policy.RuleTaint},
			text: `denied: the tenant's rule for tainted runs "ask_twice" is unknown`,
		},
		{
			name:    "a profile raises",
			in:      policy.Input{Policy: within(tool.Profile{Name: "careful", EgressClass: tool.EgressWrite})},
			verdict: policy.NeedsApproval, rules: []policy.Rule{policy.RuleProfile},
			text: `needs approval: profile "careful": it treats calls as writing outside the platform (egress class write)`,
		},
		{
			name: "a profile cannot lower",
			in: policy.Input{
				Policy: tool.Policy{
					EgressClass: tool.EgressWrite,
					Profiles: []tool.ProfileUse{{Profile: tool.Profile{
						EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto,
					}}},
				},
			},
			verdict: policy.NeedsApproval, rules: []policy.Rule{policy.RuleEgress},
			text: "needs approval: the tool writes outside the platform (egress class write)",
		},
		{
			name:    "a profile denies",
			in:      policy.Input{Policy: within(tool.Profile{Name: "off", Denied: true})},
			verdict: policy.Deny, rules: []policy.Rule{policy.RuleProfile},
			text: `denied: profile "off": it denies calls of the tool`,
		},
		{
			name: "the strictest of two profiles wins",
			in: policy.Input{Policy: within(
				tool.Profile{Name: "all", RequiresApproval: true}, tool.Profile{Name: "mine", RequiredPermission: "x"},
			)},
			verdict: policy.Deny, rules: []policy.Rule{policy.RuleProfile, policy.RuleProfile},
			text: `denied: profile "mine": the caller lacks the permission that it requires`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			d := policy.Decide(tt.in)
			require.Equal(t, tt.verdict, d.Verdict)
			require.Equal(t, tt.text, d.Explain())
			var rules []policy.Rule
			for _, r := range d.Reasons {
				rules = append(rules, r.Rule)
			}
			require.Equal(t, tt.rules, rules)
		})
	}
}

// taint returns the taint of a run, with a tenant's rule.
func taint(rule tool.TaintRule) *tool.Taint {
	return &tool.Taint{
		InvocationID: "c-1", Tool: "web_fetch", Version: "1.0.1", Turn: 1, Rule: rule,
		At: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC),
	}
}

// within returns a policy whose uses have profiles.
func within(profiles ...tool.Profile) (p tool.Policy) {
	for _, profile := range profiles {
		p.Profiles = append(p.Profiles, tool.ProfileUse{Profile: profile})
	}
	return p
}

// TestDecideIsMonotone proves that no restriction, in whatever combination,
// ever makes a decision milder.
func TestDecideIsMonotone(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		before := drawInput(t)
		after := before
		after.Policy.Profiles = slices.Clone(before.Policy.Profiles)
		if len(after.Policy.Profiles) == 0 {
			after.Policy.Profiles = []tool.ProfileUse{{}}
		}
		profile := &after.Policy.Profiles[0].Profile
		switch rapid.IntRange(0, 11).Draw(t, "restriction") {
		case 0:
			after.Policy.EgressClass = stricter(t, before.Policy.EgressClass)
		case 1:
			after.Policy.RequiresApproval = true
		case 2:
			after.Policy.PermissionPolicy = tool.PermissionAlwaysAsk
			if before.Policy.PermissionPolicy == "vote" {
				after.Policy.PermissionPolicy = "vote"
			}
		case 3:
			after.Principal.Permissions = nil
		case 4:
			if before.Policy.RequiredPermission == "" {
				after.Policy.RequiredPermission = drawPermission(t)
			}
		case 5:
			profile.Denied = true
		case 6:
			profile.RequiresApproval = true
		case 7:
			profile.EgressClass = stricter(t, profile.EgressClass)
		case 8:
			if profile.RequiredPermission == "" {
				profile.RequiredPermission = drawPermission(t)
			}
		case 10:
			if before.Taint == nil || before.Taint.Rule == tool.TaintOff {
				after.Taint = taint(drawRule(t))
			}
		case 11:
			after.Secret = true
		case 9: // Another profile applies too.
			after.Policy.Profiles = append(after.Policy.Profiles, tool.ProfileUse{Profile: drawProfile(t)})
		}
		a, b := policy.Decide(before), policy.Decide(after)
		if a.Verdict.Stricter(b.Verdict) {
			t.Fatalf("%+v gives %s, restricted to %+v gives %s", before, a.Verdict, after, b.Verdict)
		}
		if b.Verdict != policy.Allow && len(b.Reasons) == 0 {
			t.Fatalf("%s without a reason", b.Verdict)
		}
	})
}

var egressOrder = []tool.Egress{"", tool.EgressNone, tool.EgressReadOnly, tool.EgressWrite, "unknown"}

func stricter(t *rapid.T, class tool.Egress) tool.Egress {
	from := 0
	for i, e := range egressOrder {
		if e == class {
			from = i
		}
	}
	return rapid.SampledFrom(egressOrder[from:]).Draw(t, "stricter egress")
}

func drawPermission(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "permission")
}

func drawRule(t *rapid.T) tool.TaintRule {
	return rapid.SampledFrom(tool.TaintRules()).Draw(t, "rule")
}

func drawProfile(t *rapid.T) tool.Profile {
	return tool.Profile{
		Denied:           rapid.Bool().Draw(t, "denied"),
		RequiresApproval: rapid.Bool().Draw(t, "profile approval"),
		EgressClass:      rapid.SampledFrom(egressOrder).Draw(t, "profile egress"),
		PermissionPolicy: rapid.SampledFrom([]tool.PermissionPolicy{"", tool.PermissionAuto, tool.PermissionAlwaysAsk}).
			Draw(t,
				"profile policy"),
		RequiredPermission: drawPermission(t),
	}
}

func drawInput(t *rapid.T) policy.Input {
	in := policy.Input{
		Principal: tool.Principal{
			Permissions: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*"}), 0, 2).Draw(t, "permissions"),
		},
		Policy: tool.Policy{
			EgressClass:      rapid.SampledFrom(egressOrder).Draw(t, "egress"),
			RequiresApproval: rapid.Bool().Draw(t, "approval"),
			PermissionPolicy: rapid.SampledFrom(
				[]tool.PermissionPolicy{"", tool.PermissionAuto, tool.PermissionAlwaysAsk, "vote"}).
				Draw(t,
					"policy"),
			RequiredPermission: drawPermission(t),
		},
	}
	if rapid.Bool().Draw(t, "tainted") {
		in.Taint = taint(drawRule(t))
	}
	in.Secret = rapid.Bool().Draw(t, "secret")
	for range rapid.IntRange(0, 2).Draw(t, "profiles") {
		in.Policy.Profiles = append(in.Policy.Profiles, tool.ProfileUse{Profile: drawProfile(t)})
	}
	return in
}

// Only what the tool itself asks for may be confirmed by who calls it (checklist Z16).
func TestConfirmable(t *testing.T) {
	t.Parallel()

	asks := tool.Policy{PermissionPolicy: tool.PermissionAlwaysAsk}
	with := func(change func(*tool.Policy)) policy.Input {
		in := policy.Input{Policy: asks, Confirm: "it is much"}
		change(&in.Policy)
		return in
	}
	for name, in := range map[string]policy.Input{
		"always_ask":     {Policy: asks},
		"a confirmation": {Confirm: "it is much"},
		"both":           {Policy: asks, Confirm: "it is much"},
	} {
		require.True(t, policy.Decide(in).Confirmable(), name)
	}
	for name, in := range map[string]policy.Input{
		"nothing asks":      {},
		"denied":            with(func(p *tool.Policy) { p.RequiredPermission = "x" }),
		"requires_approval": with(func(p *tool.Policy) { p.RequiresApproval = true }),
		"write":             with(func(p *tool.Policy) { p.EgressClass = tool.EgressWrite }),
		"a tainted run": {
			Policy: asks, Secret: true, Taint: taint(tool.TaintApprove),
		},
		"always_ask of profiles": {Policy: within(tool.Profile{PermissionPolicy: tool.PermissionAlwaysAsk})},
		"a profile":              {Policy: within(tool.Profile{RequiresApproval: true})},
	} {
		require.False(t, policy.Decide(in).Confirmable(), name)
	}
}
