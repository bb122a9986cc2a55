package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Verdict is the decision on a call.
type Verdict string

// Verdicts, from the mildest to the strictest.
const (
	Allow         Verdict = "allow"
	NeedsApproval Verdict = "needs_approval"
	Deny          Verdict = "deny"
)

// Stricter reports whether v is stricter than other.
func (v Verdict) Stricter(other Verdict) bool { return v.rank() > other.rank() }

func (v Verdict) rank() int {
	switch v {
	case Allow:
		return 0
	case NeedsApproval:
		return 1
	case Deny:
		return 2
	default:
		return 2 // An unknown verdict denies.
	}
}

// Input is the input of a decision. All of it is read when the call is made; nothing is pinned.
type Input struct {
	Principal tool.Principal
	Policy    tool.Policy // Of the tool as it is now, with the profiles of its use.
	Test      *Test       // Set when the call is a test of the tool.
	// Confirm is why the tool itself asks for an approval of this call; empty where it does not.
	Confirm string
	// Taint is that of the run that makes the call, with the tenant's rule; nil where it is not
	// tainted, or the call was decided before.
	Taint *tool.Taint
	// Secret says that the call uses a credential.
	Secret bool
}

// Rule names a rule of the engine. Rules are stored: never rename one.
type Rule string

// Rules.
const (
	RulePermission       Rule = "required_permission"
	RuleEgress           Rule = "egress_class"
	RuleRequiresApproval Rule = "requires_approval"
	RulePermissionPolicy Rule = "permission_policy"
	RuleProfile          Rule = "profile"
	RuleConfirmation     Rule = "confirmation"
	RuleTaint            Rule = "taint"
)

// Reason is one restriction that applies to a call.
type Reason struct {
	Rule    Rule    `json:"rule"`
	Profile string  `json:"profile,omitempty"` // The name of the profile, for RuleProfile.
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"` // Safe to show to the caller and the model.
}

// Decision is the verdict on a call with all reasons.
type Decision struct {
	Verdict Verdict  `json:"verdict"`
	Reasons []Reason `json:"reasons,omitempty"` // Empty when the call is allowed.
}

// Texts returns the texts of the reasons for the verdict.
func (d Decision) Texts() []string {
	var texts []string
	for _, r := range d.Reasons {
		if r.Verdict == d.Verdict {
			texts = append(texts, r.Text)
		}
	}
	return texts
}

// Confirmable reports whether the call needs nothing but a confirmation that the tool itself
// asks for, which who calls it directly may give: no rule of the platform, the tenant's operator
// or a profile asks (checklist Z16).
func (d Decision) Confirmable() bool {
	if d.Verdict != NeedsApproval {
		return false
	}
	for _, r := range d.Reasons {
		if r.Rule != RulePermissionPolicy && r.Rule != RuleConfirmation {
			return false
		}
	}
	return true
}

// Tainted reports whether the taint of the run is a reason.
func (d Decision) Tainted() bool {
	return slices.ContainsFunc(d.Reasons, func(r Reason) bool { return r.Rule == RuleTaint })
}

// Explain describes the verdict and the reasons for the model and its user.
func (d Decision) Explain() string {
	texts := d.Texts()
	switch d.Verdict {
	case Allow:
		return "allowed"
	case NeedsApproval:
		return "needs approval: " + strings.Join(texts, "; ")
	case Deny:
		return "denied: " + strings.Join(texts, "; ")
	default:
		return "denied"
	}
}

// Decide applies every rule to in. The strictest verdict wins, and every restriction that applies is
// a reason, in the order of the rules.
func Decide(in Input) Decision {
	d := Decision{Verdict: Allow}
	d.permission(in.Principal, in.Policy.RequiredPermission, RulePermission)
	d.egress(in.Policy.EgressClass, RuleEgress)
	if in.Policy.RequiresApproval {
		d.add(RuleRequiresApproval, NeedsApproval, "the tool requires an approval of every call")
	}
	d.ask(in.Policy.PermissionPolicy, RulePermissionPolicy)
	if in.Confirm != "" {
		d.add(RuleConfirmation, NeedsApproval, in.Confirm)
	}
	for i := range in.Policy.Profiles {
		d.profile(in.Principal, &in.Policy.Profiles[i].Profile)
	}
	d.taint(&in)
	d.test(in.Test, in.Policy.EgressClass)
	return d
}

// profile applies a profile by the same rules as the tool's own policy.
func (d *Decision) profile(p tool.Principal, profile *tool.Profile) {
	var of Decision
	if profile.Denied {
		of.add(RuleProfile, Deny, "it denies calls of the tool")
	}
	if profile.RequiresApproval {
		of.add(RuleProfile, NeedsApproval, "it requires an approval of every call")
	}
	if !p.May(profile.RequiredPermission) {
		of.add(RuleProfile, Deny, "the caller lacks the permission that it requires")
	}
	if profile.EgressClass == tool.EgressWrite {
		of.add(RuleProfile, NeedsApproval, "it treats calls as writing outside the platform (egress class write)")
	} else {
		of.egress(profile.EgressClass, RuleProfile)
	}
	of.ask(profile.PermissionPolicy, RuleProfile)
	for _, r := range of.Reasons {
		d.add(RuleProfile, r.Verdict, fmt.Sprintf("profile %q: %s", profile.Name, r.Text))
		d.Reasons[len(d.Reasons)-1].Profile = profile.Name
	}
}

// Permits reports whether a principal has the permission that a tool's policy requires, for
// resolution, calls and listings.
func Permits(p tool.Principal, of tool.Policy) bool { return p.May(of.RequiredPermission) }

// permission does not name the missing permission, which callers need not know.
func (d *Decision) permission(p tool.Principal, required string, rule Rule) {
	if !p.May(required) {
		d.add(rule, Deny, "the caller lacks the permission that the tool requires")
	}
}

func (d *Decision) egress(class tool.Egress, rule Rule) {
	switch class {
	case "", tool.EgressNone, tool.EgressReadOnly:
	case tool.EgressWrite:
		d.add(rule, NeedsApproval, "the tool writes outside the platform (egress class write)")
	default:
		d.add(rule, Deny, fmt.Sprintf("the tool's egress class %q is unknown", class))
	}
}

func (d *Decision) ask(policy tool.PermissionPolicy, rule Rule) {
	switch policy {
	case "", tool.PermissionAuto:
	case tool.PermissionAlwaysAsk:
		d.add(rule, NeedsApproval, "a person must approve every call (permission policy always_ask)")
	default:
		d.add(rule, Deny, fmt.Sprintf("the tool's permission policy %q is unknown", policy))
	}
}

// add records a restriction; the verdict only ever rises.
func (d *Decision) add(rule Rule, v Verdict, text string) {
	d.Reasons = append(d.Reasons, Reason{Rule: rule, Verdict: v, Text: text})
	if v.Stricter(d.Verdict) {
		d.Verdict = v
	}
}
