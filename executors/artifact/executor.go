package artifact

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// Sandbox runs untrusted programs. Package internal/sandbox
// implements it.
type Sandbox interface {
	Run(ctx context.Context, j sandbox.Job) (*sandbox.Outcome, error)
}

// Options of an [Executor].
type Options struct {
	// Programs are those that were uploaded. Without them, only tools with a
	// program in their configuration run.
	Programs Programs
	// Judge holds tools to an operator's limits.
	Judge Judge
}

// Executor runs artifact tools. It is safe for concurrent use.
type Executor struct {
	box  Sandbox
	opts Options

	programs shelf
}

// New returns an executor that runs programs in box.
func New(box Sandbox, opts Options) *Executor {
	return &Executor{box: box, opts: opts}
}

// Execute implements [tool.Executor]. The program's input are the arguments,
// byte for byte: nothing in them is expanded. A call that lacks one which the
// input schema or the uploaded program requires is [tool.Invalid], and nothing
// runs. What the program
// prints is the call's output.
//
// A program that fails or goes beyond its limits has answered "no", in a text
// that begins with its [sandbox.Class]. Nothing of a call leaves the platform,
// so that it may always be repeated.
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	p, err := e.program(ctx, call)
	if err != nil {
		return nil, err
	}
	input, err := inputOf(call, p.inputs)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // No child is ended for a call that is over.
		return nil, over(ctx)
	}
	out, err := e.box.Run(ctx, sandbox.Job{
		Tenant: call.Principal.Tenant, Language: p.language, Program: p.code, Input: input, Limits: p.limits,
		Print: func(text string) { tool.AppendOutput(ctx, text) },
	})
	if failed, ok := errors.AsType[*sandbox.ProgramError](err); ok {
		return tool.ErrorResult(e.opts.Judge.explain(failed, p.limits)), nil
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // A *tool.Error already.
	}
	return answer(p.language, out.Output)
}

// CheckConfig is [Judge.CheckConfig], for registries that ask the executor of a
// type.
func (e *Executor) CheckConfig(raw json.RawMessage) error { return e.opts.Judge.CheckConfig(raw) }

// program returns the program of a call's tool, read once: the one that its
// version pins, or the one in its configuration.
func (e *Executor) program(ctx context.Context, call *tool.Call) (*program, error) {
	d := &call.Version.Snapshot.Definition
	if d.Artifact != nil {
		return e.uploaded(ctx, call.Principal.Tenant, *d.Artifact, d.Config)
	}
	tenant, key := call.Principal.Tenant, string(d.Config)
	if p := e.programs.get(tenant, key); p != nil {
		return p, nil
	}
	p, err := read(d.Config)
	if err != nil {
		return nil, malformed(err)
	}
	e.programs.put(tenant, key, p, len(key)+len(p.code))
	return p, nil
}

func malformed(err error) *tool.Error {
	f := tool.AsError(err)
	return &tool.Error{
		Kind: tool.Invalid, Op: "artifact.Execute",
		Msg: "the tool's configuration is malformed at implementation_config" + f.Path + ": " + f.Msg, Err: err,
	}
}

// over is the end of a call whose context ended before it began.
func over(ctx context.Context) *tool.Error {
	kind, msg := tool.Cancelled, "the call was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind, msg = tool.Timeout, "the call's time was over before it began"
	}
	return &tool.Error{Kind: kind, Op: "artifact.Execute", Msg: msg, Err: ctx.Err()}
}
