package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/secret"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

func (s *server) explainTool(ctx context.Context, p tool.Principal, in *explainInput) (*body[v1.Explanation], error) {
	ref := tool.Ref{Slug: in.Tool, Constraint: in.Version}
	if tool.ValidID(in.Tool) {
		ref.Slug, ref.ID = "", in.Tool
	}
	e, err := s.cfg.Resolver.Explain(ctx, resolver.Request{Principal: p, Ref: ref, Mode: tool.Mode(in.Mode)})
	if err != nil {
		return nil, err
	}
	// An explanation discloses more than a refusal, and is empty for a tool that
	// does not exist.
	if !p.May(ToolsWrite) || e.ToolID == "" {
		if _, err := s.findTool(ctx, p, cmp.Or(e.ToolID, in.Tool)); err != nil {
			if _, named := s.findTool(ctx, p, in.Tool); named != nil {
				err = named // With the name that the caller used.
			}
			return nil, err
		}
	}
	out := showExplanation(e)
	if out.Code == "" {
		d, err := s.definitionOf(ctx, p, e)
		if err != nil {
			return nil, err
		}
		use, err := s.useOf(ctx, p, in, &e, &d)
		if err != nil {
			return nil, err
		}
		if e.Policy.Profiles, err = s.cfg.Store.ProfileUses(ctx, p.Tenant, e.ToolID, use.agentID); err != nil {
			return nil, err
		}
		explainPolicy(&out, p, e.Policy, d.Interaction.Confirmation, use)
		if err := s.explainBudgets(ctx, p.Tenant, &out, use); err != nil {
			return nil, err
		}
		out.Weakened, out.InputSchema = weakened(&d), secret.RedactKeys(d.InputSchema)
	}
	return answer(out), nil
}

// definitionOf returns the definition of the resolved version, or of a draft that has no stored
// version.
func (s *server) definitionOf(ctx context.Context, p tool.Principal, e resolver.Explanation) (tool.Definition, error) {
	version, err := s.cfg.Resolver.Adapted(ctx, p.Tenant, e.ToolID, e.Digest, e.Overrides)
	if tool.KindOf(err) == tool.NotFound {
		head, err := s.findTool(ctx, p, e.ToolID)
		return head.Definition, err
	}
	if err != nil {
		return tool.Definition{}, err
	}
	return version.Snapshot.Definition, nil
}

// maxLost bounds the keywords that an explanation names for a dialect.
const maxLost = 20

// weakened returns the dialects that cannot say all of a tool's input schema. A tool of a
// provider's own has none.
func weakened(d *tool.Definition) []v1.Weakened {
	if d.ImplementationType() == tool.Provider {
		return nil
	}
	var out []v1.Weakened
	for _, dialect := range project.Dialects() {
		w := v1.Weakened{Dialect: dialect}
		p, err := project.Input(d.InputSchema, dialect)
		if err != nil {
			w.Refused = tool.AsError(err).Msg
		}
		for _, l := range p.Losses[:min(len(p.Losses), maxLost)] {
			w.Lost = append(w.Lost, l.String())
		}
		if more := len(p.Losses) - len(w.Lost); more > 0 {
			w.Lost = append(w.Lost, fmt.Sprintf("%d more", more))
		}
		if w.Refused != "" || len(w.Lost) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// explainPolicy adds the policy decisions on each call of a version that may run.
func explainPolicy(
	out *v1.Explanation, p tool.Principal, held tool.Policy, confirmation *tool.Confirmation, use callUse,
) {
	in := policy.Input{Principal: p, Policy: held, Taint: use.taint, Secret: use.secret}
	some := ""
	switch {
	case confirmation == nil:
	case confirmation.When == "":
		in.Confirm = "the tool asks for a confirmation of every call"
	default:
		some = "calls for which " + confirmation.When
	}
	d := policy.Decide(in)
	steps := []v1.Step{
		{
			Rule:   string(policy.RuleEgress),
			Passed: true,
			Saw:    "egress class " + string(cmp.Or(held.EgressClass, tool.EgressNone)),
		},
		{Rule: "approval", Passed: true, Saw: "no call needs an approval"},
	}
	noted := map[*v1.Step]bool{}
	for _, reason := range d.Reasons {
		if reason.Rule == policy.RuleProfile || reason.Rule == policy.RuleTaint {
			continue // It has a step of its own.
		}
		at := &steps[1]
		if reason.Verdict == policy.Deny && reason.Rule == policy.RuleEgress {
			at = &steps[0]
		}
		if noted[at] {
			reason.Text = at.Saw + "; " + reason.Text
		}
		noted[at] = true
		at.Passed, at.Saw = at.Passed && reason.Verdict != policy.Deny, reason.Text
	}
	switch {
	case noted[&steps[1]]:
	case some != "":
		steps[1].Saw = some + " need an approval"
	case asksFor(d, policy.RuleProfile):
		steps[1].Saw = "a profile asks for an approval of each call"
	case asksFor(d, policy.RuleTaint):
		steps[1].Saw = "the taint of the run asks for an approval of each call"
	}
	steps = append(steps, explainTaint(in, d, use))
	out.Steps = append(append(out.Steps, steps...), explainProfiles(held.Profiles, d)...)
	out.Taint = v1.FromTaint(use.stored)
	switch d.Verdict {
	case policy.Allow:
	case policy.NeedsApproval:
		out.Detail = d.Explain() + "; each call waits until a person has approved it"
	case policy.Deny:
		out.Code, out.Detail = tool.Denied, d.Explain()
	}
}

// explainProfiles returns a step for each profile that applies.
func explainProfiles(uses []tool.ProfileUse, d policy.Decision) []v1.Step {
	out := make([]v1.Step, len(uses))
	for i := range uses {
		use := &uses[i]
		step := v1.Step{Rule: string(policy.RuleProfile), Passed: true}
		of := "for every caller"
		if use.AgentID != "" {
			of = "for the agent"
		}
		texts := []string{fmt.Sprintf("profile %q, assigned %s", use.Name, of)}
		for _, reason := range d.Reasons {
			if reason.Profile == use.Name && !slices.Contains(texts, reason.Text) {
				step.Passed = step.Passed && reason.Verdict != policy.Deny
				texts = append(texts, reason.Text)
			}
		}
		if use.Rate != nil {
			texts = append(texts, fmt.Sprintf("at most %s begin (burst %d)", use.Rate, use.Rate.Burst))
		}
		if use.MaxConcurrency > 0 {
			texts = append(texts, fmt.Sprintf("at most %d run at once", use.MaxConcurrency))
		}
		step.Saw = strings.Join(texts, "; ")
		out[i] = step
	}
	return out
}

func showExplanation(e resolver.Explanation) v1.Explanation {
	out := v1.Explanation{
		Ref: e.Ref.String(), Mode: e.Mode, Steps: make([]v1.Step, len(e.Steps)), ToolID: e.ToolID, Slug: e.Slug,
		Version: e.Version, Digest: e.Digest, Draft: e.Draft, Shadows: e.Shadows, Code: e.Kind, Detail: e.Msg,
		ReadsDeclared: v1.FromDeclaration(e.ReadsDeclared),
	}
	for i, step := range e.Steps {
		out.Steps[i] = v1.Step{Rule: string(step.Rule), Passed: step.Passed, Saw: step.Saw}
	}
	return out
}
