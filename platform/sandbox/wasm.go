package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// wasmEngine runs WASI commands (preview 1): the input is on the standard
// input, the result is what they write to the standard output, and what they
// write to the standard error is printed. There are no arguments, variables,
// files or sockets, and the clock does not advance.
type wasmEngine struct{}

const wasmPage = 64 << 10

func (wasmEngine) compile(source []byte, l sandbox.Limits) (program, error) {
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(true))
	p := &wasmProgram{runtime: runtime}
	if err := p.prepare(ctx, source, l); err != nil {
		_ = runtime.Close(ctx)
		return nil, err
	}
	return p, nil
}

// wasmProgram is a compiled module. Each run has an instance of its own: memory,
// tables, globals and descriptors.
type wasmProgram struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	pages   uint64 // Of memory, at least.
}

// prepare compiles the module and checks that it can run: that it is a command,
// that its imports exist, and that its memory fits the limit.
func (p *wasmProgram) prepare(ctx context.Context, source []byte, l sandbox.Limits) (err error) {
	if p.module, err = p.runtime.CompileModule(ctx, source); err != nil {
		return malformed("the module does not compile: %v", err)
	}
	head, err := readHead(source)
	if err != nil {
		return malformed("the module does not compile: %v", err)
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, p.runtime); err != nil {
		return fmt.Errorf("preparing the host's module: %w", err)
	}
	host := p.runtime.Module(wasi_snapshot_preview1.ModuleName).ExportedFunctionDefinitions()
	if err := checkImports(head.imports, p.module.ImportedFunctions(), host); err != nil {
		return err
	}
	if _, ok := p.module.ExportedFunctions()["_start"]; !ok {
		return malformed("the module is not a WASI command: it has no export _start")
	}
	p.pages = head.pages
	return p.checkMemory(l)
}

// checkImports refuses a module with imports that the host does not have.
func checkImports(all []moduleImport, wanted []api.FunctionDefinition, host map[string]api.FunctionDefinition) error {
	for _, i := range all {
		switch {
		case i.kind != functionKind:
			return malformed("the module imports the %s %.64s.%.64s; only functions of %s can be imported",
				kindNames[i.kind], i.from, i.name, wasi_snapshot_preview1.ModuleName)
		case i.from != wasi_snapshot_preview1.ModuleName:
			return malformed("the module imports %.64s.%.64s; only %s can be imported",
				i.from, i.name, wasi_snapshot_preview1.ModuleName)
		case host[i.name] == nil:
			return malformed("the module imports %s.%.64s, which does not exist there", i.from, i.name)
		}
	}
	for _, f := range wanted {
		_, name, _ := f.Import()
		have := host[name]
		if !slices.Equal(f.ParamTypes(), have.ParamTypes()) || !slices.Equal(f.ResultTypes(), have.ResultTypes()) {
			return malformed("the module imports %s.%s with another signature than the host's",
				wasi_snapshot_preview1.ModuleName, name)
		}
	}
	return nil
}

// wasmShare is the memory of a command, in bytes.
func wasmShare(l sandbox.Limits) uint64 {
	return uint64(l.Memory/jsShare) / wasmPage * wasmPage //nolint:gosec // It is positive.
}

func (p *wasmProgram) checkMemory(l sandbox.Limits) error {
	if most := wasmShare(l); p.pages > most/wasmPage {
		return &sandbox.ProgramError{Class: sandbox.OverSpace, Msg: fmt.Sprintf(
			"the module starts with %d MiB of memory; with a limit of %d MiB, it may have %d",
			p.pages*wasmPage>>20, l.Memory>>20, most>>20)}
	}
	return nil
}

func malformed(format string, args ...any) error {
	return &sandbox.ProgramError{Class: sandbox.Malformed, Msg: fmt.Sprintf(format, args...)}
}

// run runs the command in a machine of its own.
func (p *wasmProgram) run(ctx context.Context, m machine) ([]byte, error) {
	if err := p.checkMemory(m.limits); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out, said := &limited{left: m.limits.Output, stop: stop}, &printed{print: m.print}
	memory := &wasmMemory{most: wasmShare(m.limits)}
	config := wazero.NewModuleConfig().WithName("").
		WithStdin(bytes.NewReader(m.input)).WithStdout(out).WithStderr(said).WithRandSource(rand.Reader)
	instance, err := p.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, memory), p.module, config)
	if exit, ok := errors.AsType[*sys.ExitError](err); ok && exit.ExitCode() == 0 {
		err = nil
	}
	if instance != nil {
		_ = instance.Close(context.WithoutCancel(ctx))
	}
	switch {
	case out.over:
		return nil, &sandbox.ProgramError{
			Class: sandbox.OverSize, Msg: fmt.Sprintf("the result has more than %d bytes", m.limits.Output),
		}
	case err != nil:
		return nil, wasmFailure(err, memory.refused, said)
	}
	result := bytes.TrimSpace(out.buf.Bytes())
	if !json.Valid(result) {
		msg := said.after("what the command wrote to its standard output is not JSON")
		return nil, &sandbox.ProgramError{Class: sandbox.BadOutput, Msg: msg}
	}
	return result, nil
}

// wasmFailure returns how a command ended, and the end of its error output.
func wasmFailure(err error, refused bool, said *printed) *sandbox.ProgramError {
	e := &sandbox.ProgramError{Class: sandbox.Failed}
	trap, trapped := trapOf(err)
	switch exit, exited := errors.AsType[*sys.ExitError](err); {
	case exited:
		e.Msg = fmt.Sprintf("the command ended with exit code %d", exit.ExitCode())
	case trap == stackOverflow:
		return tooDeep()
	case trapped:
		e.Msg = "the command trapped: " + trap
	default:
		first, _, _ := strings.Cut(err.Error(), "\n")
		e.Msg = "the command failed: " + first
	}
	if refused {
		e.Class, e.Msg = sandbox.OverSpace, "the command exceeded its memory limit; "+e.Msg
	}
	e.Msg = said.after(e.Msg)
	return e
}

// stackOverflow is the engine's trap where a command recurses too deep.
const stackOverflow = "stack overflow"

// trapOf returns the engine's name of a trap. The text of err also has data of the
// command, such as names of functions.
func trapOf(err error) (name string, ok bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		t := reflect.TypeOf(err)
		if t.Kind() == reflect.Pointer && strings.HasSuffix(t.Elem().PkgPath(), "wazero/internal/wasmruntime") {
			return err.Error(), true
		}
	}
	return "", false
}

// limited accepts a limited number of bytes, then fails and stops its writer.
type limited struct {
	buf  bytes.Buffer
	left int64
	over bool
	stop func()
}

var errOver = errors.New("the output exceeds its size limit")

func (l *limited) Write(p []byte) (int, error) {
	if int64(len(p)) > l.left {
		l.over = true
		l.stop()
		return 0, errOver
	}
	l.left -= int64(len(p))
	return l.buf.Write(p)
}

// lastPrinted is how much of the end of a command's output is reported with its
// failure, in bytes.
const lastPrinted = 1 << 10

// printed passes output on, and keeps its end.
type printed struct {
	print func(string)
	last  []byte
}

func (p *printed) Write(b []byte) (int, error) {
	p.print(string(b))
	if p.last = append(p.last, b[max(0, len(b)-lastPrinted):]...); len(p.last) > lastPrinted {
		p.last = slices.Delete(p.last, 0, len(p.last)-lastPrinted)
	}
	return len(b), nil
}

// String returns the last that was printed.
func (p *printed) String() string {
	return strings.TrimSpace(strings.ToValidUTF8(string(p.last), "\uFFFD"))
}

// after returns a message followed by the last that was printed.
func (p *printed) after(msg string) string {
	if said := p.String(); said != "" {
		return msg + "\n" + said
	}
	return msg
}
