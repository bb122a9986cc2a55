package promptcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Executor runs prompt tools of mode direct. It is safe for concurrent use.
type Executor struct {
	models  map[string]agent.Model
	local   []string
	schemas *schema.Cache
}

// New returns an executor over models, keyed by their providers: a prompt's model
// "scripted/desk" is "desk" of models["scripted"]. The map must not change
// afterwards. Local are the providers that run within the process: tools of the
// egress class none may use only these.
func New(models map[string]agent.Model, schemas *schema.Cache, local ...string) *Executor {
	return &Executor{models: models, schemas: schemas, local: local}
}

// Execute implements [tool.Executor]. It calls the model once: model calls cost
// money, so they are retried only where the tool's definition allows it.
//
// The result is the model's text, with {text, model, usage} as its structured
// content; or, for JSON, the value in the text. A text without one, or one that
// breaks the output schema, gives an error result. A truncated answer is
// [tool.Invalid], as is an unknown provider. Other errors are the model's.
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	p, err := configured(call.Version.Snapshot.Config)
	if err != nil {
		return nil, err
	}
	model, err := e.model(p)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(e.local, p.provider) {
		if err := egress.MayLeave(call.Egress, fmt.Sprintf("the model provider %.64q", p.provider)); err != nil {
			return nil, err
		}
	}
	req, err := p.request(ctx, call)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // Do not call the model for a call that has ended.
		return nil, over(ctx)
	}
	resp, err := model.Generate(ctx, req)
	if err != nil {
		return nil, failed(ctx, err)
	}
	return e.answer(context.WithoutCancel(ctx), p, call, resp)
}

// configured parses a version's configuration.
func configured(raw json.RawMessage) (*prompt, error) {
	var c struct {
		Mode string `json:"mode"`
	}
	if json.Unmarshal(raw, &c) == nil && (c.Mode == "agent" || c.Mode == "skill") {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "promptcall.Execute",
			Msg: "internal error",
			Err: fmt.Errorf(
				"a prompt of mode %s is a run of an agent, which the workflow of the call makes, and came to the executor "+
					"of prompts",
				c.Mode,
			),
		}
	}
	p, err := read(raw)
	if err != nil {
		f := tool.AsError(err)
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "promptcall.Execute",
			Msg: "the tool's configuration is malformed at implementation_config" + f.Path + ": " + f.Msg, Err: err,
		}
	}
	return p, nil
}

// model returns the prompt's model.
func (e *Executor) model(p *prompt) (agent.Model, error) {
	if m, ok := e.models[p.provider]; ok {
		return m, nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(e.models)), ", ")
	if known == "" {
		known = "none"
	}
	return nil, &tool.Error{
		Kind: tool.Invalid, Op: "promptcall.Execute",
		Msg: fmt.Sprintf("no model provider %.64q is configured in the worker (model %.80q); configured: %s", p.provider,
			p.Model, known),
	}
}

// request returns the request to the model.
func (p *prompt) request(ctx context.Context, call *tool.Call) (*agent.ModelRequest, error) {
	text, err := p.text.Render(call.Arguments)
	if err != nil {
		return nil, err
	}
	req := &agent.ModelRequest{
		Model: p.model, Options: p.ModelOptions, Instructions: p.System, Turn: 1, Tenant: call.Principal.Tenant,
		Messages: []agent.Message{{Role: agent.RoleUser, Turn: 0, Content: []tool.Content{tool.Text(text)}}},
	}
	if p.wantsJSON(call) {
		req.Instructions = strings.TrimSpace(p.System + "\n\n" + asJSON(call.Version.Snapshot.OutputSchema))
	}
	if tool.Watched(ctx) {
		req.Stream = func(d agent.Delta) { tool.AppendOutput(ctx, d.Text) }
	}
	return req, nil
}

// wantsJSON reports whether the answer is a JSON value.
func (p *prompt) wantsJSON(call *tool.Call) bool {
	return p.Output == JSONOutput || p.Output == "" && len(call.Version.Snapshot.OutputSchema) > 0
}

// asJSON returns the instruction to answer in JSON, with the given schema.
func asJSON(outputSchema json.RawMessage) string {
	const form = "Answer with one JSON value and nothing else: no explanation, and no code fence."
	if len(outputSchema) == 0 {
		return form
	}
	return form + " It must satisfy this JSON Schema:\n" + string(outputSchema)
}

// failed returns a model's error with its kind. Options that the model refuses are
// a fault of the configuration.
func failed(ctx context.Context, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	switch {
	case ok:
		out := *e
		if strings.HasPrefix(out.Path, "/model_options") {
			out.Path = "/implementation_config" + out.Path
		}
		return &out
	case ctx.Err() != nil:
		out := over(ctx)
		out.Sent, out.Err = true, err
		return out
	default:
		return &tool.Error{Kind: tool.InternalError, Op: "promptcall.Execute", Msg: "internal error", Sent: true, Err: err}
	}
}

// over returns the error of a call whose context has ended.
func over(ctx context.Context) *tool.Error {
	kind, msg := tool.Cancelled, "the call was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind, msg = tool.Timeout, "the call's deadline passed before the model answered"
	}
	return &tool.Error{Kind: kind, Op: "promptcall.Execute", Msg: msg, Err: ctx.Err()}
}
