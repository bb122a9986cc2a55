package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/agent/textcall"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
)

// question is what a model is asked in a run: what comes after head.
type question struct {
	principal tool.Principal
	runID     string
	head      string
	turn      int       // Counted from 1.
	tried     int       // Number of failed or lost attempts before this one, or before this activity.
	at        time.Time // When the activity was scheduled.
	own       bool      // Whether the activity was scheduled for this question.
	// stop is asked before the answer is stored: an error ends the attempt.
	stop func() error
	open *agent.OpenTurn // Nil where it is to be read.
	// paused reports whether the run is paused, which the turn says when it is opened.
	paused func() bool
	// save stores the answer, and returns the turn that is stored under its key.
	save func(ctx context.Context, turn agent.Turn, plan *agent.Plan) (agent.Turn, error)
}

// errSuperseded is the error of an attempt that another one overtook, or may have: it
// must not continue.
var errSuperseded = &tool.Error{
	Kind: tool.Unavailable, Op: "activities.Advance", Msg: "another attempt continues the run",
}

// errPaused is returned for a turn of a run that is paused: the model was not asked.
var errPaused = errors.New("the run is paused")

// turn calls the model, resolves, coerces and decides the calls in its answer, and
// stores all of it at once. A retry finds the stored answer and does not call the model
// again; a workflow that is reset does. It reports whether an error is the model's.
func (a *Activities) turn(
	ctx context.Context,
	q question,
) (turn agent.Turn, plan *agent.Plan, asked bool, err error) {
	tenant := q.principal.Tenant
	info := activity.GetInfo(ctx)
	key := turnKey(info, q.turn)
	open, err := a.opened(ctx, q, key)
	if err != nil {
		return turn, nil, false, fmt.Errorf("opening turn %d: %w", q.turn, err)
	}
	plan = open.Run.Plan
	if open.Stored != nil {
		return *open.Stored, plan, false, nil
	}
	if q.paused() {
		return turn, nil, false, errPaused
	}
	if q.head, err = a.takeInbox(ctx, q, &open); err != nil {
		return turn, nil, false, fmt.Errorf("opening turn %d: %w", q.turn, err)
	}
	if plan == nil {
		return turn, nil, false, &tool.Error{
			Kind: tool.InternalError, Op: "activities.Advance", Msg: "the run has no plan",
		}
	}
	definition, err := a.pinnedAgent(ctx, tenant, plan)
	if err != nil {
		return turn, nil, false, err
	}
	// What preparing the calls needs is read before the model is called, so that
	// nothing can fail between its answer and the storing of it.
	kit, err := a.newKit(ctx, q.principal, plan, open.Policies)
	if err != nil {
		return turn, nil, false, err
	}
	kit.taint = open.Taint
	provided, err := a.provided(ctx, kit, open.Run.Mode, definition.Model)
	if err != nil {
		return turn, nil, false, err
	}
	around, err := a.surroundings(ctx, q, plan, &definition)
	if err != nil {
		return turn, nil, false, err
	}
	kit.inSpace = around != nil && around.place != nil
	if err := a.reserveTurn(ctx, q, key, &definition, &open, kit); err != nil {
		return turn, nil, false, err
	}
	attempt := newModelTurn(ctx, q, key)
	attempt.model, attempt.context = definition.Model, around.instructions(plan)
	a.modelLost(ctx, attempt)
	began := agent.TurnInfo{
		RunInfo: agent.RunInfo{Tenant: tenant, RunID: q.runID, Agent: plan.Agent}, Turn: q.turn, Attempt: attempt.attempt,
		Model: definition.Model,
	}
	if err := a.turnStarts(ctx, began); err != nil {
		return turn, nil, true, a.modelFailed(ctx, attempt, err)
	}
	defer func() { a.turnEnds(ctx, began, &turn.Message, err) }()
	var answeredBy string
	ask := func(open agent.OpenTurn) (resp *agent.ModelResponse, err error) {
		resp, answeredBy, err = a.askInOrder(ctx, attempt, definition, open, kit, provided)
		return resp, err
	}
	resp, err := ask(open)
	var used agent.Usage
	if err == nil {
		if resp, used, err = a.conform(ctx, &definition, open, resp, ask); err != nil {
			a.countRefused(ctx, q, agent.RefusedTurn{Key: key, Model: answeredBy, Usage: used})
		}
	}
	if err != nil {
		return turn, nil, true, a.modelFailed(ctx, attempt, err)
	}
	turn = agent.Turn{
		Tenant: tenant, RunID: q.runID, Key: key, Waited: resp.Waited,
		Message: agent.Message{
			ID: messageID(info, q, key), ParentID: q.head, RunID: q.runID, Turn: q.turn,
			Role: agent.RoleAssistant, Content: resp.Content, Calls: resp.Calls, Usage: reported(used),
		},
	}
	turn.Model, turn.Fallback = answeredBy, answeredBy != definition.Model
	if len(resp.Content) == 0 && resp.Text != "" {
		turn.Message.Content = []tool.Content{tool.Text(resp.Text)}
	}
	if turn.Calls, err = kit.prepareAll(ctx, resp, plan.Limits.WithDefaults()); err != nil {
		return turn, nil, false, err
	}
	if err := q.stop(); err != nil {
		return turn, nil, false, err
	}
	stored, err := q.save(ctx, turn, plan)
	if err != nil {
		return turn, nil, false, fmt.Errorf("storing turn %d: %w", q.turn, err)
	}
	if stored.Message.ID != turn.Message.ID {
		return turn, nil, false, errSuperseded
	}
	return stored, plan, false, nil
}

// opened returns the input of a turn.
func (a *Activities) opened(ctx context.Context, q question, key string) (agent.OpenTurn, error) {
	if q.open != nil {
		return *q.open, nil
	}
	return a.Runs.OpenTurn(ctx, q.principal.Tenant, q.runID, q.head, key)
}

// takeInbox takes up what is in the run's inbox, and returns the message that the turn
// answers: that of the question, or what was taken up after it, by this attempt or one before.
func (a *Activities) takeInbox(ctx context.Context, q question, open *agent.OpenTurn) (string, error) {
	head := q.head
	for _, m := range slices.Backward(open.Transcript) {
		if m.Role != agent.RoleTool {
			head = m.ID
			break
		}
	}
	if open.Inbox == 0 {
		return head, nil
	}
	after, taint, err := a.Runs.TakeInbox(ctx, q.principal.Tenant, q.runID, head, q.turn)
	if err != nil {
		return head, err
	}
	if open.Taint = taint; len(after) == 0 { // What was taken up may have tainted the run.
		return head, nil
	}
	open.Transcript = append(slices.Clip(open.Transcript), after...)
	return after[len(after)-1].ID, nil
}

// turnKey identifies a turn of an execution. It is equal for its attempts.
func turnKey(info activity.Info, turn int) string {
	return fmt.Sprintf("%s/%d", info.WorkflowExecution.RunID, turn)
}

// messageID returns the id of the message that answers a question. Attempts have
// different ids, so that an attempt sees whose answer was stored. The time in it orders
// the turns of an activity, after those of an activity that was scheduled before.
func messageID(info activity.Info, q question, key string) string {
	at := q.at.Add(time.Duration(q.turn) * time.Millisecond)
	attempt := fmt.Sprintf("%s, attempt %d", key, info.Attempt)
	if info.IsLocalActivity {
		attempt += ", inline"
	}
	return ledger.TurnMessageID(at, q.runID, attempt)
}

// answered returns a stored turn in the form that [loop.Run] takes.
func answered(turn *agent.Turn) loop.Turn {
	out := loop.Turn{Head: turn.Message.ID, Calls: make([]agent.PreparedCall, len(turn.Calls))}
	for i, c := range turn.Calls {
		out.Calls[i] = describe(c, inMemory)
	}
	if len(out.Calls) == 0 {
		out.Answer = preview(turn.Message.Content)
	}
	return out
}

// ask calls a model of the pinned agent version, definition.Model, and streams its output to followers
// of the run, as the given attempt of the turn. Patience is that of [agent.ModelRequest].
func (a *Activities) ask(
	ctx context.Context, attempt *modelTurn, output int, patience time.Duration, definition agent.Definition,
	open agent.OpenTurn, kit *kit, provided []agent.ProviderTool,
) (*agent.ModelResponse, error) {
	provider, name, _ := strings.Cut(definition.Model, "/")
	model, ok := a.Models[provider]
	if !ok {
		return nil, &tool.Error{
			Kind: tool.Invalid,
			Op:   "activities.Advance",
			Msg: fmt.Sprintf(
				"no model provider %q is configured in the worker (model %q); its operator must add one",
				provider,
				definition.Model,
			),
		}
	}
	say, end := a.stream(ctx, agent.Output{
		Tenant: kit.principal.Tenant, RunID: attempt.runID, Turn: attempt.turn, Attempt: output,
	})
	defer end()
	var stream func(agent.Delta)
	if say != nil && open.Followed {
		stream = func(d agent.Delta) { say(d.Text) }
	}
	req := &agent.ModelRequest{
		Model:         name,
		Options:       definition.ModelOptions,
		Instructions:  instructed(&definition) + attempt.context,
		Messages:      open.Transcript,
		Tools:         kit.specs(),
		ProviderTools: provided,
		Turn:          attempt.turn,
		Tenant:        kit.principal.Tenant,
		Stream:        stream,
		Patience:      patience,
	}
	if definition.TextToolCalls == agent.TextToolCallsOnly {
		req.Instructions, req.Tools = textcall.Describe(req.Instructions, req.Tools), nil
		req.Messages = textcall.Transcript(req.Messages)
	}
	began := time.Now()
	resp, err := generate(ctx, model, req)
	if err != nil {
		return nil, fmt.Errorf("asking model %q: %w", definition.Model, err)
	}
	a.answeredIn(definition.Model, time.Since(began))
	a.tellOmitted(ctx, attempt, kit, resp.Omitted)
	if definition.TextToolCalls != "" {
		resp = textcall.Read(resp, attempt.turn, kit.offers)
	}
	return resp.WithShortNames(), nil
}

// Larger arguments are not repeated in histories: they are stored with the message, and the ledger returns
// them on admission. A call with an Admit activity of its own would need another admission for that, so its
// limit is higher.
const (
	inMemory               = 1 << 30 // No limit: the arguments stay in this process.
	maxInlineArguments     = 128
	maxInlineOnceArguments = 1 << 10
)

// inlineLimit returns the limit for a call of a tool.
func inlineLimit(x tool.Execution) int {
	if x.Repeatable() {
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
