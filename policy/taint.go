package policy

import (
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// taint raises a call of a tainted run that writes outside or uses a credential: what an untrusted
// source says may have led the model to it.
func (d *Decision) taint(in *Input) {
	if in.Taint == nil || !in.Writes() && !in.Secret {
		return
	}
	switch in.Taint.Rule {
	case tool.TaintOff:
	case tool.TaintApprove:
		d.add(RuleTaint, NeedsApproval, TaintText(in.Taint, in.Writes()))
	case tool.TaintDeny:
		d.add(RuleTaint, Deny, TaintText(in.Taint, in.Writes()))
	default:
		d.add(RuleTaint, Deny, fmt.Sprintf("the tenant's rule for tainted runs %q is unknown", in.Taint.Rule))
	}
}

// Writes reports whether the call counts as one of the egress class write.
func (in *Input) Writes() bool {
	return in.Policy.EgressClass == tool.EgressWrite || slices.ContainsFunc(in.Policy.Profiles,
		func(p tool.ProfileUse) bool { return p.EgressClass == tool.EgressWrite })
}

// TaintText says what tainted a run, and why that concerns a call that writes, or else uses a
// credential.
func TaintText(t *tool.Taint, writes bool) string {
	does := "uses a credential"
	if writes {
		does = "writes outside the platform"
	}
	return fmt.Sprintf("the run has %s, and the call %s", t, does)
}
