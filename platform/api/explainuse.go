package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/budget"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// callUse is what an explanation of calls depends on beside the tool and the caller.
type callUse struct {
	call    budget.Call
	agentID string
	run     *agent.Run     // Nil where no run was named.
	rule    tool.TaintRule // The tenant's.
	stored  *tool.Taint    // Of the run.
	taint   *tool.Taint    // The same with the rule; nil where the rule is off.
	secret  bool           // Whether calls use a credential.
	source  string         // How results of the tool's MCP server count; empty for any other tool.
}

// useOf reads what an explanation depends on.
func (s *server) useOf(
	ctx context.Context, p tool.Principal, in *explainInput, e *resolver.Explanation, d *tool.Definition,
) (use callUse, err error) {
	if use.agentID, err = s.agentID(ctx, p, in.Agent); err != nil {
		return use, err
	}
	own, err := s.cfg.Store.FindTenant(ctx, p.Tenant)
	if err != nil {
		return use, err
	}
	use.rule = own.Taint
	if use.secret, err = s.usesCredential(ctx, p.Tenant, d); err != nil {
		return use, err
	}
	if use.source, err = s.trustOf(ctx, p.Tenant, d); err != nil {
		return use, err
	}
	if in.Run != "" {
		run, err := s.cfg.Store.FindRun(ctx, p.Tenant, in.Run)
		if err != nil {
			return use, err
		}
		use.ofRun(&run, e)
	}
	use.call = budget.Call{ToolID: e.ToolID, Version: e.Version, AgentID: use.agentID, RunID: in.Run}
	return use, nil
}

// ofRun adds what the run says: its agent, its taint, and what its plan pinned of the tool.
func (u *callUse) ofRun(run *agent.Run, e *resolver.Explanation) {
	u.run, u.agentID = run, cmp.Or(u.agentID, run.AgentID)
	if run.Taint != nil {
		stored := *run.Taint
		u.stored = &stored
		if u.rule != tool.TaintOff {
			with := stored
			with.Rule = u.rule
			u.taint = &with
		}
	}
	if run.Plan == nil {
		return
	}
	if i := slices.IndexFunc(run.Plan.Tools, func(pin agent.Pin) bool { return pin.ToolID == e.ToolID }); i >= 0 {
		u.secret = run.Plan.Tools[i].Secret
	}
}

// trustOf says how results of a tool of an attached MCP server count; nothing for any other tool.
func (s *server) trustOf(ctx context.Context, tenant tool.TenantID, d *tool.Definition) (string, error) {
	var at struct {
		Server string `json:"server"`
	}
	if d.ImplementationType() != tool.MCP {
		return "", nil
	}
	if err := json.Unmarshal(d.Config, &at); err != nil || at.Server == "" {
		return "", nil //nolint:nilerr // It names no server.
	}
	server, err := found(s.cfg.Store.FindServer(ctx, tenant, at.Server))
	switch trust := d.Execution.Trust; {
	case err != nil:
		return "", err
	case trust != "":
		return fmt.Sprintf("; the tool says that its results are %s", trust), nil
	case server == nil || !server.Trusted:
		return fmt.Sprintf("; results of server %q taint the run", at.Server), nil
	default:
		return fmt.Sprintf("; results of server %q are trusted", at.Server), nil
	}
}

// usesCredential reports whether calls of a tool use a credential: one that its configuration names,
// or that of the attached MCP server.
func (s *server) usesCredential(ctx context.Context, tenant tool.TenantID, d *tool.Definition) (bool, error) {
	if len(wait.Credentials(d.Config)) > 0 {
		return true, nil
	}
	var at struct {
		Server string `json:"server"`
	}
	if d.ImplementationType() != tool.MCP {
		return false, nil
	}
	if err := json.Unmarshal(d.Config, &at); err != nil {
		return false, fmt.Errorf("reading the configuration of a tool: %w", err)
	}
	if at.Server == "" {
		return false, nil
	}
	server, err := found(s.cfg.Store.FindServer(ctx, tenant, at.Server))
	if err != nil || server == nil {
		return true, err // As calls are judged whose server is not found.
	}
	return server.CredentialsRef() != "", nil
}

// explainTaint is the step of the taint of the run, or of what it would do.
func explainTaint(in policy.Input, d policy.Decision, use callUse) v1.Step {
	step := v1.Step{Rule: string(policy.RuleTaint), Passed: true}
	for _, reason := range d.Reasons {
		if reason.Rule == policy.RuleTaint {
			step.Passed, step.Saw = reason.Verdict != policy.Deny, reason.Text
			return step
		}
	}
	does := "neither writes outside nor uses a credential"
	switch {
	case in.Writes():
		does = "writes outside"
	case in.Secret:
		does = "uses a credential"
	}
	switch {
	case use.stored != nil && use.rule == tool.TaintOff:
		step.Saw = fmt.Sprintf("the run has %s, and the tenant's rule is off", use.stored)
	case use.stored != nil:
		step.Saw = fmt.Sprintf("the run has %s; the call %s", use.stored, does)
	case use.run != nil:
		step.Saw = "the run is not tainted"
	default:
		step.Saw = fmt.Sprintf("no run is named; the call %s, and in tainted runs the tenant's rule is %s", does, use.rule)
	}
	step.Saw += use.source
	return step
}

// asksFor reports whether a rule asks for an approval.
func asksFor(d policy.Decision, rule policy.Rule) bool {
	return d.Verdict == policy.NeedsApproval && slices.ContainsFunc(d.Reasons, func(r policy.Reason) bool {
		return r.Rule == rule && r.Verdict == policy.NeedsApproval
	})
}

// ruleBudget is the rule of the steps of budgets.
const ruleBudget = "budget"

// explainBudgets adds the budgets that a call counts in.
func (s *server) explainBudgets(
	ctx context.Context, tenant tool.TenantID, out *v1.Explanation, use callUse,
) error {
	uses, err := s.cfg.Store.BudgetsOfCall(ctx, tenant, use.call)
	if err != nil {
		return err
	}
	for i := range uses {
		u := &uses[i]
		out.Budgets = append(out.Budgets, v1.FromBudgetUse(*u))
		out.Steps = append(out.Steps, v1.Step{Rule: ruleBudget, Passed: !u.Refuses(), Saw: budgetText(u)})
		if u.Refuses() && out.Code == "" {
			out.Code, out.Detail = tool.Denied, budgetText(u)
		}
	}
	return nil
}

// budgetText says what is left of a budget, and when it resets.
func budgetText(u *budget.Use) string {
	by := ""
	if u.ByPlatform {
		by = " of the platform"
	}
	text := fmt.Sprintf("budget %q%s, of a %s: %s of %s left", u.Name, by, u.Period, u.Left(), u.Limit)
	if !u.ResetsAt.IsZero() {
		text += ", until it resets at " + u.ResetsAt.UTC().Format(time.RFC3339)
	}
	if !u.Priced {
		return text + "; the call has no price, and is not limited by it"
	}
	return text + fmt.Sprintf("; a call reserves %s", u.Price)
}
