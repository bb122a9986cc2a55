package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// jqEngine runs jq filters. There are no modules, no environment and no further
// inputs.
type jqEngine struct{}

func (jqEngine) compile(source []byte, _ sandbox.Limits) (program, error) {
	query, err := gojq.Parse(string(source))
	if err != nil {
		return nil, &sandbox.ProgramError{Class: sandbox.Malformed, Msg: "the filter does not parse: " + err.Error()}
	}
	p := &jqProgram{query: query}
	if _, err := p.code(func(string) {}); err != nil {
		return nil, &sandbox.ProgramError{Class: sandbox.Malformed, Msg: "the filter does not compile: " + err.Error()}
	}
	return p, nil
}

type jqProgram struct{ query *gojq.Query }

// code compiles the filter for one run, whose debug and stderr print.
func (p *jqProgram) code(say func(string)) (*gojq.Code, error) {
	tell := func(v any, _ []any) any {
		if raw, err := gojq.Marshal(v); err == nil {
			say(string(raw) + "\n")
		}
		return v
	}
	code, err := gojq.Compile(p.query,
		gojq.WithEnvironLoader(func() []string { return nil }),
		gojq.WithFunction("debug", 0, 0, tell), gojq.WithFunction("stderr", 0, 0, tell))
	if err != nil {
		return nil, fmt.Errorf("compiling: %w", err)
	}
	return code, nil
}

// run returns the filter's outputs as a JSON array.
func (p *jqProgram) run(ctx context.Context, m machine) ([]byte, error) {
	code, err := p.code(m.print)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(m.input))
	dec.UseNumber() // Numbers keep all digits.
	var input any
	if err := dec.Decode(&input); err != nil {
		return nil, &sandbox.ProgramError{Class: sandbox.BadInput, Msg: "the input is not JSON"}
	}
	out := []byte{'['}
	guard := &jqGuard{Context: ctx}
	iter := code.RunWithContext(guard, input) //nolint:contextcheck // It is ctx, under guard.
	guard.watch(iter)
	for {
		v, ok := iter.Next()
		if !ok {
			return append(out, ']'), nil
		}
		if err, ok := v.(error); ok {
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				return append(out, ']'), nil
			}
			if guard.tooDeep {
				return nil, tooDeep()
			}
			return nil, &sandbox.ProgramError{Class: sandbox.Failed, Msg: err.Error()}
		}
		raw, err := gojq.Marshal(v)
		if err != nil {
			return nil, &sandbox.ProgramError{Class: sandbox.BadOutput, Msg: "an output is not JSON: " + err.Error()}
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, raw...)
		if int64(len(out)) > m.limits.Output {
			return nil, &sandbox.ProgramError{
				Class: sandbox.OverSize, Msg: fmt.Sprintf("the outputs have more than %d bytes", m.limits.Output),
			}
		}
	}
}
