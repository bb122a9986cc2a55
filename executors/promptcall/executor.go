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

// New returns an executor that asks models, which are keyed by their providers:
// a prompt's model "scripted/desk" asks models["scripted"] for "desk". The map
// must not change afterwards. Local are the providers that answer within the
// process: tools of the egress class none may ask these alone.
func New(models map[string]agent.Model, schemas *schema.Cache, local ...string) *Executor {
	return &Executor{models: models, schemas: schemas, local: local}
}

// Execute implements [tool.Executor]. It asks once: what a model says costs, so
// a call is repeated only where its tool says that it may be.
//
// The answer is the model's text, with {text, model, usage} as its structured
// value; or, for JSON, the value that the text holds. A text that holds none, or
// one outside the output schema, is the answer "no", and says how. An answer
// that was cut off is [tool.Invalid]. What else may fail is the model's to say;
// a provider that there is none of is [tool.Invalid] too.
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
			return nil, err //nolint:wrapcheck // A *tool.Error already.
		}
	}
	req, err := p.request(ctx, call)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // Do not ask the model for a call that is over.
		return nil, over(ctx)
	}
	resp, err := model.Generate(ctx, req)
	if err != nil {
		return nil, failed(ctx, err)
	}
	return e.answer(context.WithoutCancel(ctx), p, call, resp)
}

// configured reads a version's configuration.
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

// model returns the model that the prompt names.
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
		Msg: fmt.Sprintf("no model provider %.64q is configured in the worker (model %.80q); there is %s", p.provider,
			p.Model, known),
	}
}

// request makes what the model is asked.
func (p *prompt) request(ctx context.Context, call *tool.Call) (*agent.ModelRequest, error) {
	text, err := p.text.Render(call.Arguments)
	if err != nil {
		return nil, err //nolint:wrapcheck // A *tool.Error already.
	}
	req := &agent.ModelRequest{
		Model: p.model, Options: p.ModelOptions, Instructions: p.System, Turn: 1, Tenant: call.Principal.Tenant,
		Messages: []agent.Message{{Role: agent.User, Turn: 0, Content: []tool.Content{tool.Text(text)}}},
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

// asJSON returns the instruction to answer in JSON of the given schema.
func asJSON(outputSchema json.RawMessage) string {
	const form = "Answer with one JSON value and nothing else: no explanation, and no code fence."
	if len(outputSchema) == 0 {
		return form
	}
	return form + " It must satisfy this JSON Schema:\n" + string(outputSchema)
}

// failed is the failure of a model, with its kind. Options that it refuses are
// those of the configuration.
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

// over is the end of a call whose context ended.
func over(ctx context.Context) *tool.Error {
	kind, msg := tool.Cancelled, "the call was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind, msg = tool.Timeout, "the call's time was over before the model had answered"
	}
	return &tool.Error{Kind: kind, Op: "promptcall.Execute", Msg: msg, Err: ctx.Err()}
}
