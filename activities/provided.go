package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// notOurs refuses a call of a tool that the model's provider runs.
func notOurs(slug string) *agent.Refusal {
	return &agent.Refusal{Kind: tool.Invalid, Msg: fmt.Sprintf(
		"%q is run by the provider of the model, within the model's answer, and never here: "+
			"it cannot be called as a function", slug)}
}

// provided returns the tools of the plan that the model's provider runs. Their calls are not admitted
// here, so their permissions are checked at every turn, and tools that are not permitted are left out. A
// tool of another provider than the model's is a fault of the agent's definition, and fails with
// tool.Invalid.
func (a *Activities) provided(ctx context.Context, k *kit, mode tool.Mode, model string) ([]agent.ProviderTool, error) {
	var out []agent.ProviderTool
	for _, t := range k.tools {
		if t.traits.RunBy != tool.RunByProvider {
			continue
		}
		p, err := agent.ReadProviderTool(t.pin.Slug, t.version.Snapshot.Config)
		if err != nil {
			return nil, fmt.Errorf("reading the configuration of %s: %w", t.pin, err)
		}
		if err := p.Fits(model); err != nil {
			return nil, err
		}
		obstacle, err := a.withheld(ctx, k.principal, mode, t)
		switch {
		case err != nil:
			return nil, err
		case obstacle != "":
			if held, ok := a.warnings.pass("tool "+string(k.principal.Tenant)+" "+t.pin.ToolID,
				time.Now()); ok { // It is the same at every turn.
				activity.GetLogger(ctx).Warn("a provider's tool was withheld from the model", "tenant_id", k.principal.Tenant,
					"tool", t.pin.Slug,
					"version", t.pin.Version, "reason", obstacle, "others_since_last_warning", held)
			}
		default:
			out = append(out, p)
		}
	}
	return out, nil
}

// withheld returns why a tool must not be used now; empty if it may. A tool that needs approvals is
// withheld, since its calls cannot be approved here.
func (a *Activities) withheld(ctx context.Context, p tool.Principal, mode tool.Mode, t kitTool) (string, error) {
	in := policy.Input{Principal: p, Policy: t.policy}
	if t.version.Snapshot.Interaction.Confirmation != nil { // Its arguments are never seen here.
		in.Confirm = "the tool asks for confirmations of its calls"
	}
	asks, refused := judged(in)
	if asks != nil {
		refused = unasked(asks.Reasons)
	}
	if refused != nil {
		return refused.Msg, nil
	}
	_, err := a.Resolver.Resolve(ctx, resolver.Request{
		Principal: p, Ref: tool.Ref{ID: t.pin.ToolID}, Mode: mode, AllowDeprecated: true,
	})
	if err == nil {
		return "", nil
	}
	switch e := tool.AsError(err); e.Kind {
	case tool.Conflict, tool.Denied, tool.NotFound:
		return e.Msg, nil
	case tool.Invalid, tool.RateLimited, tool.Unavailable, tool.Timeout, tool.Unknown, tool.Cancelled, tool.InternalError:
	}
	return "", fmt.Errorf("reading the policy of %s: %w", t.pin, err)
}
