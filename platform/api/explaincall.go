package api

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// callRecord is what is recorded of a call. What is nil or empty was not recorded.
type callRecord struct {
	call     tool.Invocation
	run      *agent.Run
	ref      string // The reference of the agent's definition to the tool.
	events   []tool.Event
	approval *wait.Approval // Its last round.
	outside  *wait.Call
	effect   *store.EffectState
}

func (s *server) explainCall(
	ctx context.Context, p tool.Principal, in *invocationInput,
) (*body[v1.CallExplanation], error) {
	record, err := s.callRecord(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	call := &record.call
	out := v1.CallExplanation{
		ID: call.InvocationID, RunID: call.RunID, Tool: call.Slug, Version: call.Version, Digest: call.Digest,
		Status: call.Status, Steps: record.steps(),
	}
	for i := range out.Steps {
		out.Steps[i].Detail = shown.text(out.Steps[i].Detail)
	}
	return answer(out), nil
}

// callRecord reads what is recorded of a call. It fails with NotFound.
func (s *server) callRecord(ctx context.Context, tenant tool.TenantID, id string) (*callRecord, error) {
	call, _, err := s.cfg.Store.FindBriefInvocation(ctx, tenant, id, 0) // It says how, and not what.
	if err != nil {
		return nil, err
	}
	r := &callRecord{call: call}
	if call.RunID != "" {
		if r.run, err = found(s.cfg.Store.FindRun(ctx, tenant, call.RunID)); err != nil {
			return nil, err
		}
		if r.events, err = s.cfg.Store.CallEvents(ctx, tenant, call.RunID, id); err != nil {
			return nil, err
		}
	}
	if r.approval, err = found(s.cfg.Store.FindApproval(ctx, tenant, id)); err != nil {
		return nil, err
	}
	if r.outside, err = found(s.cfg.Store.FindCall(ctx, tenant, id)); err != nil {
		return nil, err
	}
	if call.EffectID != "" {
		if r.effect, err = found(s.cfg.Store.FindEffect(ctx, tenant, call.EffectID)); err != nil {
			return nil, err
		}
	}
	r.ref, err = s.referenceOf(ctx, r)
	return r, err
}

// found returns what was found, and nil for what does not exist.
func found[T any](of T, err error) (*T, error) {
	switch {
	case err == nil:
		return &of, nil
	case tool.KindOf(err) == tool.NotFound:
		return nil, nil //nolint:nilnil // It does not exist.
	default:
		return nil, err
	}
}

// referenceOf returns how the version of the agent that made a call refers to its tool; empty
// where no agent made it, or its version is gone.
func (s *server) referenceOf(ctx context.Context, r *callRecord) (string, error) {
	if r.call.AgentID == "" || r.run == nil || r.run.AgentID != r.call.AgentID || r.call.ParentID != "" {
		return "", nil
	}
	versions, err := found(s.cfg.Store.ListAgentVersions(ctx, r.call.Principal.Tenant, r.call.AgentID))
	if err != nil || versions == nil {
		return "", err
	}
	pin := r.pin()
	for i := range *versions {
		v := &(*versions)[i]
		if v.Number != r.run.AgentVersion {
			continue
		}
		for _, ref := range v.Snapshot.Tools {
			if ref.ID != "" && ref.ID == r.call.ToolID || ref.Slug != "" && (ref.Slug == r.call.Slug ||
				pin != nil && ref.Slug == pin.AskedAs) {
				return ref.String(), nil
			}
		}
	}
	return "", nil
}

// pin returns the pin of the call's tool in the plan of its run; nil for a call that the plan
// does not list, such as the step of a composition.
func (r *callRecord) pin() *agent.Pin {
	if r.run == nil || r.run.Plan == nil || r.call.ParentID != "" {
		return nil
	}
	for i := range r.run.Plan.Tools {
		if pin := &r.run.Plan.Tools[i]; pin.ToolID == r.call.ToolID && pin.Digest == r.call.Digest && pin.ToolID != "" {
			return pin
		}
	}
	return nil
}
