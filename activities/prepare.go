package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// kit has everything in memory for preparing calls of a plan's tools.
type kit struct {
	principal tool.Principal
	tools     []kitTool // In plan order.
	test      *wire.Test
	asks      bool // Whether approvals can be asked for.
	confirms  confirms
	aims      aims
	taint     *tool.Taint // Of the run; nil where it is not tainted.
	inSpace   bool        // Whether the run is in a space, up to the last call that was prepared.
}

// aims is [Activities.aims].
type aims func(pin *agent.Pin, v *tool.Version, arguments json.RawMessage) json.RawMessage

// confirms is [Activities.confirms].
type confirms func(
	ctx context.Context, v *tool.Version, arguments json.RawMessage, by tool.Principal,
) (why, message string)

type kitTool struct {
	pin     agent.Pin
	traits  tool.Traits
	version *tool.Version
	input   *schema.Schema
	policy  tool.Policy
	// unusable is why no call of the tool can be prepared: input is nil then.
	unusable string
}

// newKit loads the pinned versions, which are cached, and takes the current policies.
func (a *Activities) newKit(
	ctx context.Context, p tool.Principal, plan *agent.Plan, policies map[string]tool.Policy,
) (*kit, error) {
	k := &kit{
		principal: p, tools: make([]kitTool, 0, len(plan.Tools)), asks: a.Approvals != nil,
		confirms: a.confirms, aims: a.aims,
	}
	for _, pin := range plan.Tools {
		now, known := policies[pin.ToolID]
		if !known {
			continue // No longer visible to the tenant: absent, although pinned.
		}
		v, err := a.Resolver.Adapted(ctx, p.Tenant, pin.ToolID, pin.Digest, pin.Overrides)
		if err != nil {
			return nil, fmt.Errorf("loading %s: %w", pin, err)
		}
		t := kitTool{pin: pin, traits: a.traits(pin.Implementation), version: v, policy: now}
		if t.input, err = a.Schemas.Compile(v.Snapshot.InputSchema); err != nil {
			if tool.KindOf(err) != tool.Invalid {
				return nil, fmt.Errorf("compiling the input schema of %s: %w", pin, err)
			}
			// It was accepted by another version of the platform. The other tools can be used.
			t.unusable = tool.AsError(err).Msg
		}
		k.tools = append(k.tools, t)
	}
	return k, nil
}

// specs returns the descriptions of tools for the model.
func (k *kit) specs() []agent.ToolSpec {
	specs := make([]agent.ToolSpec, 0, len(k.tools))
	for _, t := range k.tools {
		if t.traits.RunBy == tool.RunByProvider || t.unusable != "" {
			continue
		}
		spec := agent.ToolSpec{
			Name: t.pin.Slug, Description: t.version.Snapshot.Description, InputSchema: t.version.Snapshot.InputSchema,
		}
		// A version from before they were checked may hold others: they are ignored.
		spec.Options, _ = agent.ReadToolOptions(t.version.Snapshot.Interaction.ProviderOptions)
		if len(spec.InputSchema) == 0 {
			spec.InputSchema = json.RawMessage(`{"type":"object"}`)
		}
		specs = append(specs, spec)
	}
	return specs
}

// prepareAll prepares the calls of an answer. Calls that must not run are refused here, with a reason
// for the model.
func (k *kit) prepareAll(
	ctx context.Context, resp *agent.ModelResponse, limits agent.Limits,
) ([]agent.PreparedCall, error) {
	calls := make([]agent.PreparedCall, len(resp.Calls))
	for i, call := range resp.Calls {
		id, err := uuid7.New()
		if err != nil {
			return nil, err
		}
		if calls[i], err = k.prepare(ctx, call); err != nil {
			return nil, err
		}
		calls[i].InvocationID = id
		switch {
		case resp.Truncated && i == len(resp.Calls)-1:
			calls[i].Refused = &agent.Refusal{
				Kind: tool.Invalid, Msg: "the answer was truncated within this call; retry it with less text",
			}
		case i >= limits.MaxCallsPerTurn:
			calls[i].Refused = &agent.Refusal{
				Kind: tool.Denied,
				Msg:  fmt.Sprintf("a turn may make at most %d calls; make this one in the next", limits.MaxCallsPerTurn),
			}
		}
		if calls[i].Refused != nil {
			calls[i].Asks = nil
		}
	}
	k.unask(calls)
	return calls, nil
}

// prepare resolves one call against the plan, coerces its arguments and evaluates the policy. A call that
// must not run is Refused; prepare fails only when ctx ends.
func (k *kit) prepare(ctx context.Context, call agent.Call) (agent.PreparedCall, error) {
	out := agent.PreparedCall{
		CallIdentity: tool.CallIdentity{CallID: call.ID},
		Name:         call.Name,
		Arguments:    call.Arguments,
	}
	if t := k.find(call.Name); t != nil {
		if t.traits.RunBy == tool.RunByProvider {
			out.Slug, out.Refused = t.pin.Slug, notOurs(t.pin.Slug)
			return out, nil
		}
		return out, k.fit(ctx, t, &out, call.Repaired)
	}
	out.Refused = &agent.Refusal{
		Kind: tool.NotFound, Msg: fmt.Sprintf("there is no tool %q; available: %s", tool.Clip(call.Name, 64), k.names()),
	}
	return out, nil
}

// find returns the tool with a name: its slug, or the former name or alias in the agent's definition,
// which its instructions may use too.
func (k *kit) find(name string) *kitTool {
	for i := range k.tools {
		if k.tools[i].pin.Slug == name {
			return &k.tools[i]
		}
	}
	for i := range k.tools {
		if k.tools[i].pin.AskedAs == name && name != "" {
			return &k.tools[i]
		}
	}
	return nil
}

// offers reports whether a name is that of a tool that the model may call.
func (k *kit) offers(name string) bool {
	t := k.find(name)
	return t != nil && t.traits.RunBy != tool.RunByProvider && t.unusable == ""
}

// fit prepares a call of a tool of the plan.
// Where repaired, its text was repaired before.
func (k *kit) fit(ctx context.Context, t *kitTool, out *agent.PreparedCall, repaired bool) error {
	out.Slug = t.pin.Slug
	if t.unusable != "" {
		out.Refused = &agent.Refusal{Kind: tool.Invalid, Msg: "the tool cannot be used: " + t.unusable}
		return nil
	}
	arguments, receipt, err := t.input.PrepareFilling(ctx, out.Arguments, t.version.Defaults)
	if e, ok := errors.AsType[*tool.Error](err); ok {
		out.Refused = &agent.Refusal{Kind: e.Kind, Msg: e.Msg}
		return nil
	}
	if err != nil {
		return fmt.Errorf("preparing a call of %s: %w", t.pin, err)
	}
	out.Arguments = arguments
	if repaired {
		receipt = append(schema.Receipt{{From: "text", To: "object", Rule: schema.RuleRepair}}, receipt...)
	}
	if len(receipt) > 0 {
		out.Receipt, _ = json.Marshal(receipt) // Plain strings: it cannot fail.
	}
	if out.ArgumentsDigest, err = tool.Digest(arguments); err != nil {
		out.Refused = &agent.Refusal{Kind: tool.Invalid, Msg: "the arguments are not JSON"}
		return nil //nolint:nilerr // The refusal has the reason.
	}
	why, message := k.confirms(ctx, t.version, arguments, k.principal)
	asks, refused := judged(policy.Input{
		Principal: k.principal, Policy: t.policy, Test: policyTest(k.test, t.pin, t.traits),
		Confirm: why, Taint: k.taint, Secret: t.pin.Secret,
	})
	switch {
	case refused != nil:
		out.Refused = refused
	case asks != nil && !k.asks:
		out.Refused = unasked(asks.Reasons)
	case asks != nil:
		asks.Arguments, asks.Message, asks.Aimed = out.ArgumentsDigest, message, k.aims(&t.pin, t.version, arguments)
		out.Asks = asks
	}
	return nil
}

// policyTest returns the policy's input for a test of the pinned tool with the given traits.
func policyTest(t *wire.Test, pin agent.Pin, traits tool.Traits) *policy.Test {
	if t == nil {
		return nil
	}
	return &policy.Test{
		Traits: traits, Builtin: pin.Builtin, Execution: pin.Execution, RunsAgent: pin.Agent != nil,
		AllowWrites: t.AllowWrites,
	}
}

// judged evaluates the policy. It returns why the call needs an approval, or why it must
// not run, or neither.
func judged(in policy.Input) (asks *agent.Asking, refused *agent.Refusal) {
	d := policy.Decide(in)
	switch d.Verdict {
	case policy.Allow:
		return nil, nil
	case policy.NeedsApproval:
		return &agent.Asking{Reasons: d.Texts(), Own: d.Confirmable(), Tainted: d.Tainted()}, nil
	case policy.Deny:
		return nil, &agent.Refusal{Kind: tool.Denied, Msg: strings.Join(d.Texts(), "; ")}
	default:
		return nil, &agent.Refusal{Kind: tool.Denied, Msg: "policy did not allow the call"}
	}
}

// unasked refuses a call that needs an approval where none can be asked for.
func unasked(reasons []string) *agent.Refusal {
	return &agent.Refusal{
		Kind: tool.Denied, Msg: "needs approval: " + strings.Join(reasons, "; ") +
			"; approvals cannot be asked for here, so the call was refused",
	}
}

func (k *kit) names() string {
	var names []string
	for _, t := range k.tools {
		if t.pin.Implementation != tool.Provider {
			names = append(names, t.pin.Slug)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return tool.Clip(strings.Join(names, ", "), 500)
}
