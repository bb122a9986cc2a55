package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// maxKept bounds the memory of programs that are kept ready, in bytes.
const maxKept = 64 << 20

// Sandbox runs programs that nobody trusts. Package internal/sandbox
// implements it.
type Sandbox interface {
	Run(ctx context.Context, j sandbox.Job) (*sandbox.Outcome, error)
}

// Executor runs artifact tools. It is safe for concurrent use.
type Executor struct {
	box Sandbox

	mu       sync.RWMutex
	programs map[string]*program // By configuration.
	kept     int                 // Their bytes.
}

// New returns an executor that runs programs in box.
func New(box Sandbox) *Executor {
	return &Executor{box: box, programs: make(map[string]*program)}
}

// Execute implements [tool.Executor]. The program's input are the arguments,
// byte for byte: nothing in them is expanded. A call that lacks one which the
// input schema requires is [tool.Invalid], and nothing runs. What the program
// prints is the call's output.
//
// A program that fails or goes beyond its limits has answered "no", in a text
// that begins with its [sandbox.Class]. Nothing of a call leaves the platform,
// so that it may always be repeated.
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	p, err := e.program(call.Version.Snapshot.Config)
	if err != nil {
		return nil, err
	}
	input, err := inputOf(call)
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
	if e, ok := errors.AsType[*sandbox.ProgramError](err); ok {
		return tool.ErrorResult(string(e.Class) + ": " + e.Msg), nil
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // A *tool.Error already.
	}
	return answer(p.language, out.Output)
}

// CheckConfig is the package's [CheckConfig], for registries that ask the
// executor of a type.
func (e *Executor) CheckConfig(raw json.RawMessage) error { return CheckConfig(raw) }

// program returns a configuration's program, read once.
func (e *Executor) program(config json.RawMessage) (*program, error) {
	e.mu.RLock()
	p := e.programs[string(config)]
	e.mu.RUnlock()
	if p != nil {
		return p, nil
	}
	p, err := read(config)
	if err != nil {
		f := tool.AsError(err)
		return nil, &tool.Error{
			Kind: tool.Invalid, Op: "artifact.Execute", Msg: "the tool's configuration is malformed at implementation_config" + f.Path + ": " + f.Msg, Err: err,
		}
	}
	size := len(config) + len(p.code)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kept+size > maxKept {
		clear(e.programs)
		e.kept = 0
	}
	if e.programs[string(config)] == nil {
		e.kept += size
	}
	e.programs[string(config)] = p
	return p, nil
}

// Compile reports whether the program of a configuration compiles, in box and
// for a tenant, without running it: [tool.Invalid] with a Path where it does
// not. Any other failure says that nobody could tell now.
func Compile(ctx context.Context, box Sandbox, tenant tool.TenantID, config json.RawMessage) error {
	p, err := read(config)
	if err != nil {
		return err
	}
	limits := p.limits
	limits.Time = sandbox.MaxLimits.Time // Its own is for calls, most of which find it compiled.
	_, err = box.Run(ctx, sandbox.Job{
		Tenant: tenant, Language: p.language, Program: p.code, Input: json.RawMessage("null"), Limits: limits, Check: true,
	})
	if e, ok := errors.AsType[*sandbox.ProgramError](err); ok {
		return &tool.Error{Kind: tool.Invalid, Op: "artifact.Compile", Path: "/source", Msg: e.Msg}
	}
	return err //nolint:wrapcheck // A *tool.Error already.
}

// over is the end of a call whose context ended before it began.
func over(ctx context.Context) *tool.Error {
	kind, msg := tool.Cancelled, "the call was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind, msg = tool.Timeout, "the call's time was over before it began"
	}
	return &tool.Error{Kind: kind, Op: "artifact.Execute", Msg: msg, Err: ctx.Err()}
}
