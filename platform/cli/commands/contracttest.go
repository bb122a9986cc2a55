package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	parsed "github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// exampleWait is how long an example of a contract may take.
const exampleWait = time.Minute

// Outcomes of an example.
const (
	examplePassed  = "passed"  // It was called, and the answer is what is expected.
	exampleChecked = "checked" // Its arguments fit the input schema; it was not called.
	exampleFailed  = "failed"
)

// testedExample is an example of a contract, and what became of it.
type testedExample struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Tool    string `json:"tool"`
	Example string `json:"example"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail,omitempty"` // Why it failed, or was not called.
}

// testContracts runs the examples of contracts: against the draft of the server where that is what the
// contract says and calls only read; else their arguments are checked alone.
func (a *app) testContracts(ctx context.Context, stdin io.Reader, c *client.Client, files []string) error {
	contracts, err := definition.ReadContracts(ctx, files, stdin)
	if err != nil {
		return err
	}
	out := []testedExample{}
	failed := false
	for _, contract := range contracts {
		tested, err := testContract(ctx, c, contract)
		if err != nil {
			return err
		}
		for _, t := range tested {
			failed = failed || t.Outcome == exampleFailed
		}
		out = append(out, tested...)
	}
	err = a.Printer.Show(v1.Page[testedExample]{Items: out}, func(w io.Writer) error {
		for _, t := range out {
			line := fmt.Sprintf("%s:%d: %s %q: %s", t.File, t.Line, t.Tool, t.Example, t.Outcome)
			if t.Detail != "" {
				line += ": " + t.Detail
			}
			if _, err := fmt.Fprintln(w, terminal.Clean(line)); err != nil {
				return err
			}
		}
		if len(out) == 0 {
			_, err := fmt.Fprintln(w, "there are no examples")
			return err
		}
		return nil
	})
	if err == nil && failed {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return err
}

func testContract(ctx context.Context, c *client.Client, contract definition.Contract) ([]testedExample, error) {
	read, err := parsed.Parse(contract.Raw)
	if err != nil {
		e := tool.AsError(err)
		return nil, contract.Fault(e.Path, e.Msg)
	}
	spec := read.Tool
	input, err := schema.New(0).Compile(spec.InputSchema)
	if err != nil {
		return nil, contract.Fault("/input_schema", tool.AsError(err).Msg)
	}
	why, err := uncallable(ctx, c, contract, spec)
	if err != nil {
		return nil, err
	}
	var out []testedExample
	for i, example := range contract.Examples {
		t := testedExample{
			File: contract.Fault("", "").File, Line: example.Line, Tool: spec.Slug, Example: example.Name,
			Outcome: exampleChecked, Detail: why,
		}
		if t.Example == "" {
			t.Example = fmt.Sprintf("example %d", i+1)
		}
		if err := input.Validate(ctx, example.Arguments); err != nil {
			t.Outcome, t.Detail = exampleFailed, tool.AsError(err).Msg
		} else if why == "" {
			if t.Outcome, t.Detail, err = callExample(ctx, c, spec.Slug, example); err != nil {
				return nil, err
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// uncallable returns why the examples of a contract are not called; empty where they are.
func uncallable(
	ctx context.Context, c *client.Client, contract definition.Contract, spec *parsed.ToolSpec,
) (string, error) {
	if spec.EgressClass == tool.EgressWrite {
		return "it was not called, since the tool writes", nil
	}
	change, err := c.Apply(ctx, v1.Apply{DryRun: true, Definitions: []json.RawMessage{contract.Raw}})
	if err != nil {
		return "", err
	}
	for _, item := range change.Items {
		switch item.Action {
		case v1.Unchanged:
		case v1.Created:
			return "it was not called, since the tool is not registered", nil
		case v1.Updated:
			return "it was not called, since the server has another draft: register this one first", nil
		case v1.Failed, v1.Skipped:
			if item.Error != nil {
				return "", contract.Fault(item.Error.Path, item.Error.Detail)
			}
		}
	}
	return "", nil
}

// callExample calls the draft with an example.
func callExample(
	ctx context.Context, c *client.Client, slug string, example definition.Example,
) (outcome, detail string, err error) {
	test, err := c.TestTool(ctx, slug, v1.NewToolTest{Arguments: example.Arguments}, exampleWait)
	switch {
	case err != nil:
		return "", "", err
	case test.Status == agent.RunRunning:
		return exampleFailed, "it had not ended after " + exampleWait.String(), nil
	case test.Error != "" && strings.Contains(test.Error, "allow_writes"):
		return exampleChecked, "it was not called: " + test.Error, nil
	case test.Status != agent.RunCompleted || test.Invocation == nil || test.Invocation.Output == nil:
		return exampleFailed, test.Error, nil
	case test.Invocation.IsError:
		return exampleFailed, "the tool answered no", nil
	case example.Expect == nil:
		return examplePassed, "", nil
	}
	answer := test.Invocation.Output.Structured
	for _, block := range test.Invocation.Output.Content {
		if len(answer) == 0 {
			answer = block.JSON
		}
	}
	if at, ok := contains(answer, example.Expect); !ok {
		return exampleFailed, "the answer is not what is expected at " + at, nil
	}
	return examplePassed, "", nil
}

// contains reports whether an answer has what is expected, members that are not named aside; else
// where it has not, as a JSON Pointer.
func contains(answer, expected json.RawMessage) (at string, ok bool) {
	var has, wants any
	if decodeNumbers(answer, &has) != nil || decodeNumbers(expected, &wants) != nil {
		return "/", false
	}
	return within("", has, wants)
}

func decodeNumbers(raw json.RawMessage, to *any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(to)
}

func within(path string, has, wants any) (string, bool) {
	switch wants := wants.(type) {
	case map[string]any:
		members, ok := has.(map[string]any)
		if !ok {
			return path + "/", false
		}
		for name, want := range wants {
			value, there := members[name]
			if !there {
				return path + "/" + name, false
			}
			if at, ok := within(path+"/"+name, value, want); !ok {
				return at, false
			}
		}
		return "", true
	case []any:
		items, ok := has.([]any)
		if !ok || len(items) != len(wants) {
			return path + "/", false
		}
		for i, want := range wants {
			if at, ok := within(fmt.Sprintf("%s/%d", path, i), items[i], want); !ok {
				return at, false
			}
		}
		return "", true
	default:
		return path + "/", reflect.DeepEqual(has, wants)
	}
}
