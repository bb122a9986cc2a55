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
	// Programs loads uploaded programs. When nil, only tools with a program in
	// their configuration run.
	Programs Programs
	// Judge checks tools against an operator's limits.
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

// Execute implements [tool.Executor]. The program's input is the arguments,
// byte for byte. A call without an argument that the input schema or the
// uploaded program requires fails with [tool.Invalid] before the program runs.
// The program's output is the call's result.
//
// A program that fails or exceeds its limits gives an error result, whose text
// begins with its [sandbox.Class]. Calls have no effects outside the platform,
// so they are always safe to retry.
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	p, err := e.program(ctx, call)
	if err != nil {
		return nil, err
	}
	input, err := inputOf(call, p.inputs)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // Do not kill a child for a call that has ended.
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
		return nil, err
	}
	return answer(p.language, out.Output)
}

// CheckConfig is [Judge.CheckConfig], for registries that call a type's
// executor.
func (e *Executor) CheckConfig(raw json.RawMessage) error { return e.opts.Judge.CheckConfig(raw) }

// program returns the cached program of a call's tool: the one that its version
// pins, or the one in its configuration.
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

// over returns the error of a call whose context ended before it started.
func over(ctx context.Context) *tool.Error {
	kind, msg := tool.Cancelled, "the call was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind, msg = tool.Timeout, "the call's deadline passed before it started"
	}
	return &tool.Error{Kind: kind, Op: "artifact.Execute", Msg: msg, Err: ctx.Err()}
}
