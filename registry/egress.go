package registry

import (
	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkEgressRules fails for egress rules that no request satisfies, or that allow
// more than the egress class.
func (r *Registry) checkEgressRules(s *definition.ToolSpec) error {
	if err := hostname.CheckRules(s.EgressRules, s.EgressClass, r.declaresReads(&s.Definition)); err != nil {
		return refusal.Within("/egress_rules", err)
	}
	return nil
}

// egressObstacle fails with tool.Invalid if the egress class and rules would refuse
// every call of a tool, or, for a provider tool, if the policy requires approvals.
func (r *Registry) egressObstacle(p tool.Policy, d *tool.Definition) error {
	of := r.opts.Types.Of(d)
	if of.RunBy == tool.RunByProvider {
		return providerObstacle(p)
	}
	if of.Needs == nil {
		return nil
	}
	class, method := of.Needs(d.Config)
	what := "the tool calls out"
	if method != "" {
		what = "the tool sends " + method
	}
	declare := ""
	if method == "POST" && p.EgressClass == tool.EgressReadOnly && of.DeclaresReads != nil {
		declare = ", or, where the POST changes nothing, set implementation_config.reads to true, " +
			"which needs the permission " + DeclareReads
	}
	switch {
	case class.Within(p.EgressClass):
	case class == tool.EgressWrite:
		return refusal.New(
			tool.Invalid, "/egress_class",
			"%s, and its egress class is %s: every call would be refused and reported as drift; set egress_class to write%s",
			what, p.EgressClass, declare,
		)
	default:
		return refusal.New(
			tool.Invalid, "/egress_class",
			"%s, and its egress class is %s: every call would be refused and reported as drift; set egress_class to read_only",
			what, p.EgressClass,
		)
	}
	if method != "" && !p.EgressRules.AllowsMethod(method) {
		return refusal.New(tool.Invalid, "/egress_rules/methods",
			"%s, which its egress rules do not allow: every call would be refused; add %s", what, method)
	}
	return nil
}

// egressWarnings warns of what egressObstacle will refuse on publishing.
func (r *Registry) egressWarnings(s *definition.ToolSpec) []string {
	if err := r.egressObstacle(s.Policy, &s.Definition); err != nil {
		return []string{"it cannot be published as it is: " + tool.AsError(err).Msg}
	}
	return nil
}

// providerObstacle fails with tool.Invalid for a provider tool whose policy requires
// approvals: the provider runs its calls, so the platform cannot hold them.
func providerObstacle(p tool.Policy) error {
	const why = "the model's provider runs the tool by itself, so no approval can be asked for before it does, and " +
		"it would never be passed to a model"
	switch {
	case p.EgressClass == tool.EgressWrite:
		return refusal.New(tool.Invalid, "/egress_class",
			"egress class write requires an approval of every call; %s", why)
	case p.RequiresApproval:
		return refusal.New(tool.Invalid, "/requires_approval", "%s: drop requires_approval", why)
	case p.PermissionPolicy == tool.PermissionAlwaysAsk:
		return refusal.New(tool.Invalid, "/permission_policy", "%s: set permission_policy to auto", why)
	}
	return nil
}
