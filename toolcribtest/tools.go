package toolcribtest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Registry is where the fakes are registered: the SDK's test environment, or a
// worker against a test server.
type Registry interface {
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// Call is one call that the workflow made.
type Call struct {
	ID        string // Of the workflow's node.
	Tool      string // As the workflow named it, such as "charge@^1.2".
	Arguments json.RawMessage
	Principal tool.Principal
	Mode      tool.Mode
	EffectID  string // Equal for calls that are one effect.
}

// Handler answers a call. Its error is the call's: a [*tool.Error] keeps its kind,
// any other is tool.InternalError. It is called once for each call, whatever the
// error. The handlers of a workflow share the state that [tool.State] returns for ctx.
type Handler func(ctx context.Context, call Call) (*tool.Result, error)

// Tools are the tools that a workflow under test finds. A tool without a handler
// is not found. It is safe for concurrent use.
type Tools struct {
	mu       sync.Mutex
	handlers map[string]Handler
	calls    []Call
	state    State
}

// New registers fakes of the activities that calls of a workflow go through, and
// returns the tools that they find: none at first.
func New(r Registry) *Tools {
	t := &Tools{handlers: make(map[string]Handler)}
	for name, fn := range map[string]any{
		wire.LoadPlanActivity: t.loadPlan, wire.AdmitActivity: t.admit, wire.SettleActivity: t.settle,
		wire.InvokeActivity(tool.Function): t.invoke,
	} {
		r.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
	}
	return t
}

// Handle lets h answer the calls of a tool, which is named by its slug.
func (t *Tools) Handle(slug string, h Handler) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handlers[slug] = h
}

// Answer lets every call of a tool answer with a value, marshalled to JSON. It
// panics where the value cannot be.
func (t *Tools) Answer(slug string, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("toolcribtest: the answer of %s cannot be written as JSON: %v", slug, err))
	}
	t.Handle(slug, func(context.Context, Call) (*tool.Result, error) { return tool.JSONResult(raw), nil })
}

// Refuse lets every call of a tool answer "no", with a text.
func (t *Tools) Refuse(slug, text string) {
	t.Handle(slug, func(context.Context, Call) (*tool.Result, error) { return tool.ErrorResult(text), nil })
}

// Fail lets every call of a tool end without an answer, as after its last attempt.
func (t *Tools) Fail(slug string, kind tool.Kind, msg string) {
	t.Handle(slug, func(context.Context, Call) (*tool.Result, error) {
		return nil, &tool.Error{Kind: kind, Op: "toolcribtest", Msg: msg}
	})
}

// Calls returns the calls that were made, in their order.
func (t *Tools) Calls() []Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Call(nil), t.calls...)
}

// version is that of every pinned tool.
const version = "1.0.0"

func (t *Tools) pin(ref tool.Ref) (agent.Pin, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.handlers[ref.Name()] == nil {
		return agent.Pin{}, &tool.Error{
			Kind: tool.NotFound, Op: "toolcribtest", Msg: fmt.Sprintf("tool %q not found", ref),
		}
	}
	return agent.Pin{
		VersionIdentity: tool.VersionIdentity{
			ToolID: ref.Name(), Slug: ref.Name(), Version: version, Digest: ref.String(), Implementation: tool.Function,
		},
		Execution: tool.Execution{Pure: true, Lane: tool.LaneVisible},
	}, nil
}

func (t *Tools) loadPlan(_ context.Context, in wire.LoadPlanInput) (wire.LoadPlanOutput, error) {
	out := wire.LoadPlanOutput{RunID: "toolcribtest", Mode: in.Mode}
	if in.Node == nil {
		for _, ref := range in.Tools {
			pin, err := t.pin(ref)
			if err != nil {
				return out, failure.EncodeFinal(err)
			}
			out.Plan.Tools = append(out.Plan.Tools, pin)
		}
		return out, nil
	}
	digest, err := tool.Digest(in.Node.Arguments)
	if err != nil {
		return out, failure.EncodeFinal(
			&tool.Error{Kind: tool.Invalid, Op: "toolcribtest", Msg: "the arguments are not JSON"},
		)
	}
	out.Mode = in.Node.Mode
	out.Call = &agent.PreparedCall{Slug: in.Node.Tool.Name(), Arguments: in.Node.Arguments, ArgumentsDigest: digest}
	out.Call.CallID, out.Call.InvocationID = in.Node.ID, ledger.InvocationID(time.Now(), in.Node.ID)
	pin, err := t.pin(in.Node.Tool)
	if err != nil {
		e := tool.AsError(err)
		out.Call.Refused = &agent.Refusal{Kind: e.Kind, Msg: e.Msg}
		return out, nil
	}
	out.Plan.Tools = []agent.Pin{pin}
	return out, nil
}

func (*Tools) admit(context.Context, wire.InvokeInput) (wire.AdmitOutput, error) {
	return wire.AdmitOutput{Fence: 1}, nil
}

func (t *Tools) invoke(ctx context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
	call := Call{
		ID: in.CallID, Tool: in.Pin.Digest, Arguments: in.Arguments, Principal: in.Principal, Mode: in.Mode,
		EffectID: in.EffectID,
	}
	t.mu.Lock()
	handler := t.handlers[in.Pin.Slug]
	t.calls = append(t.calls, call)
	t.mu.Unlock()
	result, err := handler(tool.WithState(ctx, &t.state), call)
	if err == nil && result == nil {
		err = &tool.Error{
			Kind: tool.InternalError,
			Op:   "toolcribtest",
			Msg:  "the handler returned neither a result nor an error",
		}
	}
	if err != nil {
		return wire.InvokeOutput{}, failure.EncodeSettled(err)
	}
	return wire.InvokeOutput{
		InvocationID: in.InvocationID, Status: tool.StatusCompleted, IsError: result.IsError, Result: result,
	}, nil
}

func (*Tools) settle(_ context.Context, in wire.SettleInput) (wire.InvokeOutput, error) {
	return wire.InvokeOutput{
		InvocationID: in.Invoke.InvocationID, Status: in.Status, IsError: true, Kind: in.Kind, Msg: in.Msg,
	}, nil
}
