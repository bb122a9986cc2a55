package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

// asksError is the error of an admission that needs an approval.
type asksError struct{ why agent.Asking }

func (e *asksError) Error() string {
	return "the call needs an approval: " + strings.Join(e.why.Reasons, "; ")
}

// approved returns nil where an admitted call has the approval that it needs for the given
// reasons: for what it is about to do, and nothing else.
func (a *Activities) approved(
	ctx context.Context, in *wire.InvokeInput, ticket ledger.Ticket, asks agent.Asking,
) error {
	digest, err := tool.Digest(ticket.Arguments)
	if err != nil {
		return &tool.Error{Kind: tool.Invalid, Op: "activities.Admit", Msg: "the arguments are not JSON", Err: err}
	}
	version, err := a.Resolver.Version(ctx, in.Principal.Tenant, in.Pin.ToolID, in.Pin.Digest)
	if err != nil {
		return fmt.Errorf("loading %s: %w", in.Pin, err)
	}
	asks.Aimed = a.aims(&in.Pin, version, ticket.Arguments)
	if ticket.Approved != "" {
		target, err := a.target(ctx, in, &asks)
		if err != nil {
			return err
		}
		if ticket.Approved == target.Bind(digest) {
			return nil
		}
	}
	asks.Arguments = digest
	return &asksError{why: asks}
}

// target returns what an approval of the call is bound to, besides the arguments.
func (a *Activities) target(ctx context.Context, in *wire.InvokeInput, asks *agent.Asking) (wait.Target, error) {
	version, err := a.Resolver.Version(ctx, in.Principal.Tenant, in.Pin.ToolID, in.Pin.Digest)
	if err != nil {
		return wait.Target{}, fmt.Errorf("loading %s: %w", in.Pin, err)
	}
	target := wait.TargetOf(in.Pin.Content(), version.Snapshot.Config)
	if a.Targets != nil {
		target, err = a.Targets.Target(ctx, wait.Aim{
			Tenant: in.Principal.Tenant, Implementation: version.Snapshot.ImplementationType(), Builtin: in.Pin.Builtin,
			Content: in.Pin.Content(), Config: version.Snapshot.Config, Arguments: asks.Aimed,
		})
	}
	if err != nil {
		return target, fmt.Errorf("finding where %s goes: %w", in.Pin, err)
	}
	target.Own = asks.Own && direct(ctx, in) && confirmableByCaller(version.Snapshot.Interaction.Confirmation)
	return target, nil
}

// aims returns those of a call's arguments that say where it goes; nil where none do.
func (a *Activities) aims(pin *agent.Pin, v *tool.Version, arguments json.RawMessage) json.RawMessage {
	if a.Targets == nil {
		return nil
	}
	return a.Targets.Aims(v.Snapshot.ImplementationType(), pin.Builtin, v.Snapshot.Config, arguments)
}

// direct reports whether the call is the one that was asked for: no agent, composition, test or
// workflow of the host made it.
func direct(ctx context.Context, in *wire.InvokeInput) bool {
	return activity.GetInfo(ctx).WorkflowType.Name == wire.ToolCallWorkflow &&
		in.AgentID == "" && in.ParentID == "" && in.Node == nil && in.Test == nil
}

// confirmableByCaller reports whether a tool's confirmation may be given by its caller: it requires no
// other permission, and no more than one approval.
func confirmableByCaller(of *tool.Confirmation) bool {
	return of == nil || of.Permission == "" && of.EscalateTo == "" && of.Approvals <= 1
}

// Ask asks for the approval of a call, and returns how the request stands. It is
// idempotent: a call has one request. Where nobody may decide it, none is recorded.
func (a *Activities) Ask(ctx context.Context, in wire.AskInput) (wire.AskOutput, error) {
	tenant := in.Invoke.Principal.Tenant
	if err := checkTenant(ctx, tenant); err != nil {
		return wire.AskOutput{}, failure.Encode(err)
	}
	ask := a.request
	if in.Expired {
		ask = a.expire
	}
	out, err := ask(ctx, &in)
	if err != nil {
		logFailure(ctx, "asking for an approval failed", err, callAttrs(&in.Invoke)...)
		return out, encode(ctx, err)
	}
	return out, nil
}

// expire ends a request whose time is over.
func (a *Activities) expire(ctx context.Context, in *wire.AskInput) (wire.AskOutput, error) {
	request, err := a.Approvals.End(ctx, in.Invoke.Principal.Tenant, in.ID, wait.Expired)
	if err != nil {
		return wire.AskOutput{}, fmt.Errorf("ending request %s: %w", in.ID, err)
	}
	return stands(&request), nil
}

// request records the request of a call.
func (a *Activities) request(ctx context.Context, in *wire.AskInput) (wire.AskOutput, error) {
	call := &in.Invoke
	if a.Approvals == nil || call.Asks == nil {
		return wire.AskOutput{}, &tool.Error{
			Kind: tool.InternalError, Op: "activities.Ask", Msg: "this worker cannot ask for approvals",
		}
	}
	if err := a.complete(ctx, call); err != nil {
		return wire.AskOutput{}, err
	}
	target, err := a.target(ctx, call, call.Asks)
	if err != nil {
		return wire.AskOutput{}, err
	}
	r := wait.Request{
		Entry: call.Entry(), WorkflowID: activity.GetInfo(ctx).WorkflowExecution.ID, Target: target,
		Binding: target.Bind(call.Asks.Arguments), Reasons: call.Asks.Reasons, Needed: 1,
		Permission: wait.DecidePermission, Expires: wait.DefaultExpiry,
	}
	if r.Agent, err = a.agentOf(ctx, call); err != nil {
		return wire.AskOutput{}, err
	}
	r.Message = cmp.Or(call.Asks.Message, askedFor(call, r.Agent))
	if err := a.confirmed(ctx, call, &r); err != nil {
		return wire.AskOutput{}, err
	}
	able, err := a.Approvals.CountApprovers(ctx, call.Principal.Tenant, deciders(&r), call.Principal.Subject)
	if err != nil {
		return wire.AskOutput{}, fmt.Errorf("counting who may approve: %w", err)
	}
	if target.Own && call.Principal.May(wait.ConfirmPermission) {
		able++
	}
	if able < r.Needed {
		return wire.AskOutput{Refused: &wire.Failure{Kind: tool.Denied, Msg: unapprovable(&r, able)}}, nil
	}
	request, err := a.Approvals.Ask(ctx, r)
	if err != nil {
		return wire.AskOutput{}, fmt.Errorf("asking for the approval of %s: %w", call.Pin, err)
	}
	if call.Asks.Tainted {
		return stands(&request), nil // Grants were given without knowing of it.
	}
	if request, err = a.granted(ctx, call.Principal, request); err != nil {
		return wire.AskOutput{}, err
	}
	return stands(&request), nil
}

// deciders are the permissions of those who may decide a request, now or once it escalates.
func deciders(r *wait.Request) []string {
	of := wait.Approval{Permission: r.Permission, EscalateTo: r.EscalateTo}
	return of.Permissions()
}

// unapprovable explains why a call cannot be approved.
func unapprovable(r *wait.Request, able int) string {
	return fmt.Sprintf(
		"the call needs an approval (%s), and nobody can give it: it takes %d API keys with the permission %s, "+
			"beside that of who started the run, and there are %d",
		strings.Join(r.Reasons, "; "), r.Needed, strings.Join(deciders(r), " or "), able,
	)
}

// agentOf returns the slug of the agent that makes a call; none outside of agent runs.
func (a *Activities) agentOf(ctx context.Context, in *wire.InvokeInput) (string, error) {
	if in.AgentID == "" {
		return "", nil
	}
	found, err := a.Agents.FindAgent(ctx, in.Principal.Tenant, in.AgentID)
	if tool.KindOf(err) == tool.NotFound {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("finding the agent: %w", err)
	}
	return found.Slug, nil
}

// askedFor is what the approver is asked.
func askedFor(in *wire.InvokeInput, by string) string {
	if by == "" {
		return fmt.Sprintf("Approve a call of %s?", in.Pin)
	}
	return fmt.Sprintf("Approve a call of %s by agent %s?", in.Pin, by)
}

// stands returns how a request stands.
func stands(r *wait.Approval) wire.AskOutput {
	return wire.AskOutput{
		Resolution: wire.Resolution{ID: r.ID, Round: r.Round, Status: r.Status, Reason: r.Reason},
		ExpiresAt:  r.ExpiresAt,
	}
}
