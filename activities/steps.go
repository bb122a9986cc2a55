package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/nested/compose"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// stepOf returns the step that is the call of a composition's node.
func stepOf(id string) flow.Step { return flow.Step{Node: id, Do: flow.PhaseCall} }

// steps returns what the steps of a composition are bound to: its arguments, and how the given
// steps have ended. They are read in one query of the ledger, which is their record.
func (m *graphMemory) steps(ctx context.Context, ids []string) (*graph.Data, error) {
	var effects []string
	if m.input == nil {
		effects = append(effects, m.call.EffectID)
	}
	for _, id := range ids {
		if m.records[id] == nil && !m.whole {
			effects = append(effects, m.call.NodeEffect(stepOf(id)))
		}
	}
	if len(effects) > 0 {
		known, err := m.a.Ledger.Records(ctx, m.call.Principal.Tenant, effects)
		if err != nil {
			return nil, fmt.Errorf("reading the steps: %w", err)
		}
		if m.input == nil {
			whole, ok := known[m.call.EffectID]
			if !ok {
				return nil, &tool.Error{
					Kind: tool.InternalError, Op: "activities.steps", Msg: "internal error",
					Err: errors.New("the composition has no record"),
				}
			}
			m.input = whole.Arguments
		}
		for _, id := range ids {
			if record, ok := known[m.call.NodeEffect(stepOf(id))]; ok && record.Outcome != nil {
				m.stepEnded(id, record)
			}
		}
	}
	return &graph.Data{Input: m.input, Records: m.records, Context: m.context()}, nil
}

// stepEnded keeps how a step has ended.
func (m *graphMemory) stepEnded(id string, record ledger.Record) {
	o := record.Outcome
	m.ends[id] = record
	m.records[id] = m.graph.StepRecord(id, &graph.Call{
		Result: o.Result, Kind: o.Kind, Msg: o.Msg, EffectID: m.call.NodeEffect(stepOf(id)),
	})
}

// closeSteps ends the steps of a composition that ended otherwise than by its steps, and
// returns how far it came, or nil where no step began.
func (a *Activities) closeSteps(ctx context.Context, in *wire.SettleInput) (*wire.GraphEnd, error) {
	call := &in.Invoke
	if !call.Pin.Sequence() {
		return nil, nil //nolint:nilnil // No step.
	}
	whole, pinned := call.GraphCall(), call.Pin.Graph
	effects := make([]string, len(pinned.Tools))
	for i := range pinned.Tools {
		effects[i] = whole.NodeEffect(stepOf(pinned.Tools[i].ID))
	}
	records, err := a.Ledger.Records(ctx, call.Principal.Tenant, effects)
	if err != nil {
		return nil, fmt.Errorf("reading the steps: %w", err)
	}
	var end wire.GraphEnd
	for i := range pinned.Tools {
		record, known := records[effects[i]]
		if !known {
			break
		}
		end.Steps++
		if record.Outcome != nil {
			continue
		}
		step := whole.NodeCall(stepOf(pinned.Tools[i].ID), pinned.Tools[i].Pin, time.Now(), end.Steps)
		step.InvocationID = record.InvocationID
		if _, err := a.settleCall(ctx, wire.SettleInput{
			Invoke: step, Status: in.Status, Kind: in.Kind, Msg: in.Msg,
		}); err != nil {
			return nil, err
		}
	}
	if end.Steps == 0 {
		return nil, nil //nolint:nilnil // No step.
	}
	return &end, nil
}

// composed returns the outcome of each step of a composition, and its output if it came to its
// end, and whether any step began. Memory has them; nil to read them.
func (a *Activities) composed(
	ctx context.Context, in *wire.SettleInput, m *graphMemory,
) (result *tool.Result, begun bool, err error) {
	call := &in.Invoke
	if m == nil {
		if m, err = a.newGraphMemory(ctx, call.GraphCall()); err != nil {
			return nil, false, err
		}
	}
	ids := make([]string, len(call.Pin.Graph.Tools))
	for i := range call.Pin.Graph.Tools {
		ids[i] = call.Pin.Graph.Tools[i].ID
	}
	data, err := m.steps(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	ends := make([]compose.StepEnd, len(ids))
	for i, id := range ids {
		ends[i] = compose.StepEnd{ID: id, Status: compose.NotRun, Tool: call.Pin.Graph.Tools[i].Pin.String()}
		record, known := m.ends[id]
		if !known {
			continue
		}
		o := record.Outcome
		ends[i].Status, ends[i].InvocationID = o.Status, record.InvocationID
		ends[i].IsError, ends[i].Kind, ends[i].Msg = o.IsError(), o.Kind, o.Msg
		if o.Result != nil && o.Result.IsError {
			ends[i].Msg = preview(o.Result.Content)
		}
	}
	output, failure := composedOutput(m.graph, in, data)
	return compose.Result(ends, output, failure), len(m.ends) > 0, nil
}

// composedOutput returns the output of a composition, or why it has none.
func composedOutput(g *graph.Graph, in *wire.SettleInput, data *graph.Data) (json.RawMessage, error) {
	if in.Kind != "" {
		return nil, &tool.Error{Kind: in.Kind, Op: "activities.Settle", Msg: in.Msg}
	}
	if f := in.Graph.Failure; f != nil {
		if r := data.Records[f.Node]; r != nil {
			return nil, g.StepFailure(r)
		}
		return nil, &tool.Error{Kind: f.Kind, Op: "activities.Settle", Msg: f.Msg}
	}
	return g.Output(data)
}
