package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"modernc.org/quickjs"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// jsEngine runs ES2023 modules. There is no I/O: a module cannot import anything,
// and the only host object is a console.
type jsEngine struct{}

// jsShare is the fraction of the process's memory that the engine may use: the
// rest is for the process itself.
const jsShare = 2

func (jsEngine) compile(source []byte, l sandbox.Limits) (program, error) {
	vm, refused, err := newMachine(l)
	if err != nil {
		return nil, err
	}
	defer func() { _ = vm.Close() }()
	defer explain(refused)
	vm.SetModuleLoader(refuseImports, nil)
	if _, err := vm.Compile(string(source), quickjs.EvalModule); err != nil {
		if refused() {
			return nil, outOfMemory()
		}
		return nil, &sandbox.ProgramError{Class: sandbox.Malformed, Msg: "the module does not compile: " + err.Error()}
	}
	return jsProgram(source), nil
}

// newMachine creates a machine with limited memory, and a function that reports
// whether an allocation failed. Recursion is limited by the engine.
func newMachine(l sandbox.Limits) (vm *quickjs.VM, refused func() bool, err error) {
	if vm, err = quickjs.NewVM(); err != nil {
		return nil, nil, fmt.Errorf("creating a machine: %w", err)
	}
	if refused, err = watchMemory(vm); err != nil {
		return nil, nil, errors.Join(err, vm.Close())
	}
	vm.SetMemoryLimit(uintptr(l.Memory / jsShare)) //nolint:gosec // It is positive.
	return vm, refused, nil
}

// explain recovers a panic of the engine, prints a message if a failed allocation
// is the reason (the engine does not check every allocation), and panics again,
// which ends the process.
func explain(refused func() bool) {
	if caught := recover(); caught != nil {
		if refused() {
			fmt.Fprintln(os.Stderr, "fatal error: out of memory in the engine")
		}
		panic(caught)
	}
}

func refuseImports(_ *quickjs.VM, name string) (string, error) {
	return "", fmt.Errorf("module %q: programs cannot import modules", name)
}

type jsProgram []byte

// run calls the module's default export in a machine of its own.
func (p jsProgram) run(ctx context.Context, m machine) ([]byte, error) {
	vm, refused, err := newMachine(m.limits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = vm.Close() }()
	defer explain(refused)
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
		return settled.result(refused())
	case refused():
		return nil, outOfMemory()
	case err != nil: // The driver's, before the program ran, or an interrupt.
		return nil, &sandbox.ProgramError{Class: sandbox.Failed, Msg: err.Error()}
	default:
		return nil, &sandbox.ProgramError{Class: sandbox.Failed, Msg: "the function returned a promise that is never settled"}
	}
}

// outcome is the result that the driver reported.
type outcome struct {
	class sandbox.Class // Empty for a result.
	text  string
}

// result returns the result of an outcome. An error that looks like exhausted
// memory counts as such only if an allocation failed.
func (o *outcome) result(refused bool) ([]byte, error) {
	switch {
	case o.class == sandbox.OverDepth:
		return nil, tooDeep()
	case o.class == sandbox.OverSpace && refused:
		return nil, outOfMemory()
	case o.class == sandbox.OverSpace:
		return nil, &sandbox.ProgramError{Class: sandbox.Failed, Msg: o.text}
	case o.class != "":
		return nil, &sandbox.ProgramError{Class: o.class, Msg: o.text}
	case !json.Valid([]byte(o.text)):
		return nil, &sandbox.ProgramError{Class: sandbox.BadOutput, Msg: "the result is not JSON"}
	default:
		return []byte(o.text), nil
	}
}
