package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/internal/nested/compose"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// bind computes the arguments of a composition's step. The definition, the arguments and the outcomes of
// earlier steps are immutable, so every attempt computes the same.
func (a *Activities) bind(ctx context.Context, in *wire.InvokeInput) error {
	step := in.Step
	config, err := a.composition(ctx, in.Principal.Tenant, step.ToolID, step.Digest)
	if err != nil {
		return err
	}
	if step.Index < 0 || step.Index >= len(config.Steps) {
		return &tool.Error{
			Kind: tool.InternalError, Op: "activities.bind", Msg: "internal error",
			Err: errors.New("the composition has no such step"),
		}
	}
	state, _, err := a.stepState(ctx, in.Principal.Tenant, step.EffectID, config.Steps[:step.Index])
	if err != nil {
		return err
	}
	if in.Arguments, err = config.Arguments(step.Index, state); err != nil {
		return fmt.Errorf("binding the arguments of step %q: %w", config.Steps[step.Index].ID, err)
	}
	return nil
}

func (a *Activities) composition(
	ctx context.Context, tenant tool.TenantID, toolID, digest string,
) (*compose.Config, error) {
	version, err := a.Resolver.Version(ctx, tenant, toolID, digest)
	if err != nil {
		return nil, fmt.Errorf("loading the composition: %w", err)
	}
	return compose.ParseConfig(version.Snapshot.Config)
}

// stepState reads a composition's arguments and the outcomes of the given steps, in one query of the
// ledger.
func (a *Activities) stepState(
	ctx context.Context, tenant tool.TenantID, effectID string, steps []compose.Step,
) (compose.State, map[string]ledger.Record, error) {
	ids := make([]string, 0, len(steps)+1)
	ids = append(ids, effectID)
	for _, step := range steps {
		ids = append(ids, ledger.StepEffect(effectID, step.ID))
	}
	records, err := a.Ledger.Records(ctx, tenant, ids)
	if err != nil {
		return compose.State{}, nil, fmt.Errorf("reading the steps: %w", err)
	}
	whole, known := records[effectID]
	if !known {
		return compose.State{}, nil, &tool.Error{
			Kind: tool.InternalError, Op: "activities.stepState", Msg: "internal error",
			Err: errors.New("the composition has no record"),
		}
	}
	state := compose.State{Input: whole.Arguments, Steps: make(map[string]compose.StepResult, len(steps))}
	if len(state.Input) == 0 {
		state.Input = json.RawMessage(`{}`)
	}
	for i, step := range steps {
		if record, ok := records[ids[i+1]]; ok && record.Outcome != nil {
			o := record.Outcome
			state.Steps[step.ID] = compose.StepResult{Result: o.Result, Kind: o.Kind, Msg: o.Msg}
		}
	}
	return state, records, nil
}

// closeSteps ends the steps of a composition that ended otherwise than by its steps, and
// returns how far it came, or nil where no step began.
func (a *Activities) closeSteps(ctx context.Context, in *wire.SettleInput) (*wire.Steps, error) {
	call := &in.Invoke
	var ids []string
	for _, step := range call.Pin.Steps {
		ids = append(ids, ledger.StepEffect(call.EffectID, step.ID))
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // No step.
	}
	records, err := a.Ledger.Records(ctx, call.Principal.Tenant, ids)
	if err != nil {
		return nil, fmt.Errorf("reading the steps: %w", err)
	}
	steps := loop.NewSteps(*call)
	for {
		before := steps.State()
		step, ok := steps.Next(time.Now())
		if !ok {
			break
		}
		record, known := records[step.EffectID]
		switch {
		case !known && before.Begun == 0:
			return nil, nil //nolint:nilnil // No step.
		case !known:
			before.Stopped = true
			return &before, nil
		}
		if record.Outcome == nil {
			step.InvocationID = record.InvocationID
			end := wire.SettleInput{Invoke: step, Status: in.Status, Kind: in.Kind, Msg: in.Msg}
			if _, err := a.settleCall(ctx, end); err != nil {
				return nil, err
			}
		}
	}
	state := steps.State()
	return &state, nil
}

// composed returns the outcome of each step of a composition, and its output if all of them ran.
func (a *Activities) composed(ctx context.Context, in *wire.SettleInput) (*tool.Result, error) {
	call := &in.Invoke
	config, err := a.composition(ctx, call.Principal.Tenant, call.Pin.ToolID, call.Pin.Digest)
	if err != nil {
		return nil, err
	}
	begun := min(in.Steps.Begun, len(config.Steps))
	state, records, err := a.stepState(ctx, call.Principal.Tenant, call.EffectID, config.Steps[:begun])
	if err != nil {
		return nil, err
	}
	return composedResult(config, in, state, records), nil
}

// composedResult is composed for outcomes that are known.
func composedResult(
	config *compose.Config, in *wire.SettleInput, state compose.State, records map[string]ledger.Record,
) *tool.Result {
	call, begun := &in.Invoke, min(in.Steps.Begun, len(config.Steps))
	ends := make([]compose.StepEnd, len(config.Steps))
	for i := range config.Steps {
		step := &config.Steps[i]
		ends[i] = compose.StepEnd{ID: step.ID, Tool: step.Tool.String(), Status: compose.NotRun}
		if i < len(call.Pin.Steps) {
			ends[i].Tool = call.Pin.Steps[i].Pin.String()
		}
		record, known := records[ledger.StepEffect(call.EffectID, step.ID)]
		if i >= begun || !known || record.Outcome == nil {
			continue
		}
		o := record.Outcome
		ends[i].Status, ends[i].InvocationID = o.Status, record.InvocationID
		ends[i].IsError, ends[i].Kind, ends[i].Msg = o.IsError(), o.Kind, o.Msg
		if o.Result != nil && o.Result.IsError {
			ends[i].Msg = preview(o.Result.Content)
		}
	}
	output, failure := composedOutput(config, in, state, begun)
	return compose.Result(ends, output, failure)
}

// composedOutput returns the output of a composition, or why it has none.
func composedOutput(
	config *compose.Config, in *wire.SettleInput, state compose.State, begun int,
) (json.RawMessage, error) {
	if in.Kind != "" {
		return nil, &tool.Error{Kind: in.Kind, Op: "activities.Settle", Msg: in.Msg}
	}
	if in.Steps.Stopped && begun > 0 {
		last := begun - 1
		if err := config.Stopped(last, state.Steps[config.Steps[last].ID]); err != nil {
			return nil, err
		}
	}
	return config.Output(state)
}
