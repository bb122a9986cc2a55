package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// ModelTurn calls the model with the transcript up to in.Head, resolves, coerces and decides its calls, and
// stores all of it in one transaction. A retry returns the stored answer; a workflow that is reset calls
// the model again.
func (a *Activities) ModelTurn(ctx context.Context, in wire.ModelTurnInput) (wire.ModelTurnOutput, error) {
	if err := checkTenant(ctx, in.Principal.Tenant); err != nil {
		return wire.ModelTurnOutput{}, failure.Encode(err)
	}
	stop := heartbeat(ctx)
	defer stop()
	turn, plan, err := a.turn(ctx, in)
	if err != nil {
		logFailure(ctx, "model turn failed", err, "tenant_id", in.Principal.Tenant, "run_id", in.RunID, "turn", in.Turn)
		return wire.ModelTurnOutput{}, encode(ctx, err)
	}
	out := wire.ModelTurnOutput{Head: turn.Message.ID, Calls: make([]agent.PreparedCall, len(turn.Calls))}
	for i, c := range turn.Calls {
		out.Calls[i] = describe(c, inlineLimit(plan, c.Slug))
	}
	if len(out.Calls) == 0 {
		out.Answer = preview(turn.Message.Content)
	}
	return out, nil
}

func (a *Activities) turn(ctx context.Context, in wire.ModelTurnInput) (agent.Turn, *agent.Plan, error) {
	tenant := in.Principal.Tenant
	info := activity.GetInfo(ctx)
	key := fmt.Sprintf("%s/%d", info.WorkflowExecution.RunID, in.Turn)
	open, err := a.Runs.OpenTurn(ctx, tenant, in.RunID, in.Head, key)
	if err != nil {
		return agent.Turn{}, nil, fmt.Errorf("opening turn %d: %w", in.Turn, err)
	}
	if open.Stored != nil {
		return *open.Stored, open.Run.Plan, nil
	}
	if open.Run.Plan == nil {
		return agent.Turn{}, nil, &tool.Error{
			Kind: tool.InternalError, Op: "activities.ModelTurn", Msg: "the run has no plan",
		}
	}
	definition, err := a.pinnedAgent(ctx, tenant, open.Run.Plan)
	if err != nil {
		return agent.Turn{}, nil, err
	}
	// Read what preparing the calls needs before the model is called, so that nothing can
	// fail between its answer and storing it.
	kit, err := a.newKit(ctx, in.Principal, open.Run.Plan, open.Policies)
	if err != nil {
		return agent.Turn{}, nil, err
	}
	provided, err := a.provided(ctx, kit, open.Run.Mode, definition.Model)
	if err != nil {
		return agent.Turn{}, nil, err
	}
	attempt := newModelTurn(ctx, in, key)
	attempt.model = definition.Model
	a.modelLost(ctx, attempt)
	resp, err := a.ask(ctx, in, definition, open, kit, provided)
	if err != nil {
		return agent.Turn{}, nil, a.modelFailed(ctx, attempt, err)
	}
	turn := agent.Turn{
		Tenant: tenant, RunID: in.RunID, Key: key,
		Message: agent.Message{
			ID: ledger.TurnMessageID(info.ScheduledTime, in.RunID, key), ParentID: in.Head, RunID: in.RunID, Turn: in.Turn,
			Role:  agent.Assistant,
			Calls: resp.Calls, Usage: &resp.Usage,
		},
	}
	turn.Message.Content = resp.Content
	if len(resp.Content) == 0 && resp.Text != "" {
		turn.Message.Content = []tool.Content{tool.Text(resp.Text)}
	}
	if turn.Calls, err = kit.prepareAll(ctx, resp, open.Run.Plan.Limits.WithDefaults()); err != nil {
		return agent.Turn{}, nil, err
	}
	stored, err := patiently(ctx, turnPatience, func() (agent.Turn, error) { return a.Runs.SaveTurn(ctx, turn) })
	if err != nil {
		return agent.Turn{}, nil, fmt.Errorf("storing turn %d: %w", in.Turn, err)
	}
	return stored, open.Run.Plan, nil
}

// ask calls the model of the pinned agent version, and streams its output to followers of the run.
func (a *Activities) ask(
	ctx context.Context, in wire.ModelTurnInput, definition agent.Definition, open agent.OpenTurn, kit *kit,
	provided []agent.ProviderTool,
) (*agent.ModelResponse, error) {
	provider, name, _ := strings.Cut(definition.Model, "/")
	model, ok := a.Models[provider]
	if !ok {
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "activities.ModelTurn",
			Msg: fmt.Sprintf("no model provider %q is configured in the worker (model %q); its operator must add one", provider,
				definition.Model),
		}
	}
	say, end := a.stream(ctx, agent.Output{
		Tenant: kit.principal.Tenant, RunID: in.RunID, Turn: in.Turn, Attempt: int(activity.GetInfo(ctx).Attempt),
	})
	defer end()
	var stream func(agent.Delta)
	if say != nil && open.Followed {
		stream = func(d agent.Delta) { say(d.Text) }
	}
	inTime, cancel := bounded(ctx)
	defer cancel()
	resp, err := generate(inTime, model, &agent.ModelRequest{
		Model: name, Options: definition.ModelOptions, Instructions: definition.Instructions,
		Messages: open.Transcript, Tools: kit.specs(), ProviderTools: provided, Turn: in.Turn, Tenant: kit.principal.Tenant,
		Stream: stream,
	})
	if err = late(ctx, inTime, err); err != nil {
		return nil, fmt.Errorf("asking model %q: %w", definition.Model, err)
	}
	return resp, nil
}

// Larger arguments are not repeated in histories: they are stored with the message, and the ledger returns
// them on admission. A call with an Admit activity of its own would need another admission for that, so its
// limit is higher.
const (
	maxInlineArguments     = 128
	maxInlineOnceArguments = 1 << 10
)

// inlineLimit returns the limit for a call of the plan's tool.
func inlineLimit(plan *agent.Plan, slug string) int {
	if plan == nil {
		return maxInlineOnceArguments
	}
	if pin, ok := plan.Find(slug); ok && pin.Execution.Repeatable() {
		return maxInlineArguments
	}
	return maxInlineOnceArguments
}

// describe returns the small descriptor of a call for histories.
func describe(c agent.PreparedCall, limit int) agent.PreparedCall {
	if c.Name == c.Slug {
		c.Name = ""
	}
	if c.Refused != nil {
		c.Arguments, c.Receipt, c.Settled = nil, nil, true
	}
	if len(c.Arguments) > limit {
		c.Arguments, c.Stored = nil, true
	}
	if len(c.Receipt) > maxInlineOnceArguments {
		c.Receipt = json.RawMessage(`[{"rule":"too_many_changes_to_list"}]`)
	}
	return c
}

// generate calls a model, and converts a panic to an error: the panic's value is kept out of histories.
func generate(ctx context.Context, m agent.Model, req *agent.ModelRequest) (resp *agent.ModelResponse, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = nil, fmt.Errorf("the model panicked with a %T\n%s", p, debug.Stack())
		}
	}()
	resp, err = m.Generate(ctx, req)
	if err == nil && resp == nil {
		err = errors.New("the model returned neither an answer nor an error")
	}
	return resp, err
}
