package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// wasmEngine runs WASI commands (preview 1): the input is on the standard
// input, the result is what they write to the standard output, and what they
// write to the standard error is printed. There are no arguments, variables,
// files or sockets, and the clock stands still.
type wasmEngine struct{}

const wasmPage = 64 << 10

func (wasmEngine) compile(source []byte) (program, error) {
	p := &wasmProgram{source: source, cache: wazero.NewCompilationCache()}
	if err := p.prepare(sandbox.DefaultLimits.Memory); err != nil {
		_ = p.cache.Close(context.Background())
		return nil, &sandbox.ProgramError{Class: sandbox.Malformed, Msg: "the module does not compile: " + err.Error()}
	}
	if _, ok := p.module.ExportedFunctions()["_start"]; !ok {
		return nil, &sandbox.ProgramError{Class: sandbox.Malformed, Msg: "the module is no WASI command: it exports no _start"}
	}
	for _, f := range p.module.ImportedFunctions() {
		if from, name, _ := f.Import(); from != wasi_snapshot_preview1.ModuleName {
			return nil, &sandbox.ProgramError{Class: sandbox.Malformed, Msg: fmt.Sprintf("the module imports %s.%s; there is only %s", from, name, wasi_snapshot_preview1.ModuleName)}
		}
	}
	return p, nil
}

// wasmProgram is a module compiled for a limit of memory. Each run has an
// instance of its own: memory, tables, globals and descriptors.
type wasmProgram struct {
	source  []byte
	cache   wazero.CompilationCache // Keeps the code for other limits.
	memory  int64                   // The limit.
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// prepare compiles the module for a limit of memory, unless it is.
func (p *wasmProgram) prepare(memory int64) error {
	if p.runtime != nil && p.memory == memory {
		return nil
	}
	ctx := context.Background()
	pages := uint32(memory / jsShare / wasmPage) //nolint:gosec // Far below 4 GiB.
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCompilationCache(p.cache).WithCloseOnContextDone(true).WithMemoryLimitPages(pages))
	module, err := runtime.CompileModule(ctx, p.source)
	if err == nil {
		_, err = wasi_snapshot_preview1.Instantiate(ctx, runtime)
	}
	if err != nil {
		_ = runtime.Close(ctx)
		return err //nolint:wrapcheck // The caller wraps it.
	}
	if p.runtime != nil {
		_ = p.runtime.Close(ctx)
	}
	p.memory, p.runtime, p.module = memory, runtime, module
	return nil
}

// run runs the command in a machine of its own.
func (p *wasmProgram) run(ctx context.Context, m machine) ([]byte, error) {
	if err := p.prepare(m.limits.Memory); err != nil { //nolint:contextcheck // What is compiled outlives the run.
		return nil, fmt.Errorf("compiling again: %w", err)
	}
	out := &limited{left: m.limits.Output}
	instance, err := p.runtime.InstantiateModule(ctx, p.module, wazero.NewModuleConfig().WithName("").
		WithStdin(bytes.NewReader(m.input)).WithStdout(out).WithStderr(printed(m.print)).WithRandSource(rand.Reader))
	if exit, ok := errors.AsType[*sys.ExitError](err); ok && exit.ExitCode() == 0 {
		err = nil
	}
	if instance != nil {
		_ = instance.Close(context.WithoutCancel(ctx))
	}
	switch {
	case out.over:
		return nil, &sandbox.ProgramError{Class: sandbox.OverSize, Msg: fmt.Sprintf("the result has more than %d bytes", m.limits.Output)}
	case err != nil:
		return nil, wasmFailure(err)
	}
	result := bytes.TrimSpace(out.buf.Bytes())
	if !json.Valid(result) {
		return nil, &sandbox.ProgramError{Class: sandbox.BadOutput, Msg: "what the command wrote to its standard output is not JSON"}
	}
	return result, nil
}

func wasmFailure(err error) *sandbox.ProgramError {
	text := err.Error()
	switch exit, exited := errors.AsType[*sys.ExitError](err); {
	case exited:
		return &sandbox.ProgramError{Class: sandbox.Failed, Msg: fmt.Sprintf("the command ended with exit code %d", exit.ExitCode())}
	case strings.Contains(text, "stack overflow"):
		return &sandbox.ProgramError{Class: sandbox.OverDepth, Msg: "the program recursed deeper than it may"}
	default:
		first, _, _ := strings.Cut(text, "\n")
		return &sandbox.ProgramError{Class: sandbox.Failed, Msg: "the command trapped: " + first}
	}
}

// limited takes so many bytes and then fails its writer.
type limited struct {
	buf  bytes.Buffer
	left int64
	over bool
}

var errOver = errors.New("the output is larger than it may be")

func (l *limited) Write(p []byte) (int, error) {
	if int64(len(p)) > l.left {
		l.over = true
		return 0, errOver
	}
	l.left -= int64(len(p))
	return l.buf.Write(p) //nolint:wrapcheck // It never fails.
}

// printed writes to what prints.
type printed func(string)

func (p printed) Write(b []byte) (int, error) {
	p(string(b))
	return len(b), nil
}
