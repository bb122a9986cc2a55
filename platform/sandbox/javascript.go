package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"modernc.org/quickjs"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// jsEngine runs ES2023 modules. There is no I/O: a module may import nothing,
// and of a host's objects there is only a console.
type jsEngine struct{}

// jsShare is how much of the process's memory the engine may use: the rest is
// for the process itself.
const jsShare = 2

// stackSize bounds recursion, far below where the process would die of it.
const stackSize = 256 << 10

func (jsEngine) compile(source []byte) (program, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("making a machine: %w", err)
	}
	defer func() { _ = vm.Close() }()
	vm.SetModuleLoader(refuseImports, nil)
	if _, err := vm.Compile(string(source), quickjs.EvalModule); err != nil {
		return nil, &sandbox.ProgramError{Class: sandbox.Malformed, Msg: "the module does not compile: " + err.Error()}
	}
	return jsProgram(source), nil
}

func refuseImports(_ *quickjs.VM, name string) (string, error) {
	return "", fmt.Errorf("module %q: programs import nothing", name)
}

type jsProgram []byte

// driver makes the console, calls the program with the input, and waits for a
// promise that it returns. What it needs it takes before the program can spoil
// it. Each call of the console prints a line.
const driver = `(() => {
  const print = __print, settle = __settle, input = JSON.parse(__input());
  delete globalThis.__print; delete globalThis.__settle; delete globalThis.__input;
  const stringify = JSON.stringify, String = globalThis.String, Err = Error;
  const text = v => typeof v === "string" ? v : v instanceof Err ? String(v.stack || v) : (stringify(v) ?? String(v));
  const say = (...all) => { print(all.map(text).join(" ") + "\n"); };
  globalThis.console = Object.freeze({log: say, info: say, warn: say, error: say, debug: say});
  const fail = e => settle("failed", e instanceof Err ? String(e) + "\n" + String(e.stack ?? "") : String(e));
  const done = v => {
    const raw = stringify(v === undefined ? null : v);
    if (raw === undefined) settle("bad_output", "the function returned a " + typeof v + ", which is not JSON");
    else settle("", raw);
  };
  import("program").then(module => {
    if (typeof module.default !== "function") return settle("malformed", "the module has no function as its default export");
    return Promise.resolve(module.default(input)).then(done);
  }).catch(fail);
})()`

// run calls the module's default export in a machine of its own.
func (p jsProgram) run(ctx context.Context, m machine) ([]byte, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("making a machine: %w", err)
	}
	defer func() { _ = vm.Close() }()
	vm.SetMemoryLimit(uintptr(m.limits.Memory / jsShare)) //nolint:gosec // It is positive.
	vm.SetMaxStackSize(stackSize)
	stop := context.AfterFunc(ctx, vm.Interrupt)
	defer stop()

	var settled *outcome
	settle := func(class, text string) {
		if settled == nil {
			settled = &outcome{sandbox.Class(class), text}
		}
	}
	err = errors.Join(
		vm.RegisterFunc("__print", m.print, false),
		vm.RegisterFunc("__settle", settle, false),
		vm.RegisterFunc("__input", func() string { return string(m.input) }, false))
	if err != nil {
		return nil, fmt.Errorf("preparing the machine: %w", err)
	}
	vm.SetModuleLoader(func(vm *quickjs.VM, name string) (string, error) {
		if name == "program" && settled == nil {
			return string(p), nil
		}
		return refuseImports(vm, name)
	}, func(_ *quickjs.VM, _, name string) (string, error) { return name, nil })
	if _, err = vm.Eval(driver, quickjs.EvalGlobal); err == nil {
		_, err = vm.ExecutePendingJobs()
	}
	switch {
	case settled != nil:
		return settled.result()
	case err != nil:
		return nil, jsFailure(err)
	default:
		return nil, &sandbox.ProgramError{Class: sandbox.Failed, Msg: "the function returned a promise that nothing settles"}
	}
}

// outcome is what a program settled.
type outcome struct {
	class sandbox.Class // Empty for a result.
	text  string
}

func (o *outcome) result() ([]byte, error) {
	if o.class != "" {
		if e := jsFailure(errors.New(o.text)); e.Class != sandbox.Failed {
			return nil, e
		}
		return nil, &sandbox.ProgramError{Class: o.class, Msg: strings.TrimSpace(o.text)}
	}
	if !json.Valid([]byte(o.text)) {
		return nil, &sandbox.ProgramError{Class: sandbox.BadOutput, Msg: "the result is not JSON"}
	}
	return []byte(o.text), nil
}

// jsFailure reads what the engine says of a limit it kept.
func jsFailure(err error) *sandbox.ProgramError {
	text := err.Error()
	switch {
	case strings.Contains(text, "out of memory"):
		return &sandbox.ProgramError{Class: sandbox.OverSpace, Msg: "the program used more memory than it may"}
	case strings.Contains(text, "stack overflow") || strings.Contains(text, "Maximum call stack"):
		return &sandbox.ProgramError{Class: sandbox.OverDepth, Msg: "the program recursed deeper than it may"}
	default:
		return &sandbox.ProgramError{Class: sandbox.Failed, Msg: strings.TrimSpace(text)}
	}
}
