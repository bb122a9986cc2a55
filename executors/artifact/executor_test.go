package artifact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/executors/artifact"
	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// box answers in the place of a sandbox. Package platform/sandbox tests what
// programs do in the real one.
type box func(ctx context.Context, j sandbox.Job) (*sandbox.Outcome, error)

func (b box) Run(ctx context.Context, j sandbox.Job) (*sandbox.Outcome, error) { return b(ctx, j) }

func callOf(config, arguments string) *tool.Call {
	return &tool.Call{
		CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: "t1"}},
		Egress:       tool.EgressNone,
		Arguments:    json.RawMessage(arguments),
		Version: &tool.Version{Slug: "quote", Number: "1.0.0", Snapshot: tool.Snapshot{Definition: tool.Definition{
			Implementation: tool.Artifact, Config: json.RawMessage(config),
			InputSchema: json.RawMessage(`{"type": "object", "required": ["a", "b/c"]}`),
		}}},
	}
}

const script = `{"language": "javascript", "source": "export default x => x;", "limits": {"time_ms": 500, "memory_mb": 256, "output_kb": 10}}`

// A program is given the arguments as they are, under its limits, and what it
// prints is the call's output.
func TestExecute(t *testing.T) {
	t.Parallel()

	var asked sandbox.Job
	e := artifact.New(box(func(_ context.Context, j sandbox.Job) (*sandbox.Outcome, error) {
		asked = j
		j.Print("seen\n")
		return &sandbox.Outcome{Output: json.RawMessage(`{"id":9007199254740993}`)}, nil
	}), artifact.Options{})
	said := ""
	ctx := tool.WithOutput(t.Context(), func(text string) { said += text })
	const arguments = `{"a": "{{ secrets.key }} ${a} {b}", "b/c": 9007199254740993}`
	res, err := e.Execute(ctx, callOf(script, arguments))
	require.NoError(t, err)
	require.Equal(t, tool.JSONResult(json.RawMessage(`{"id":9007199254740993}`)), res)
	require.True(t, bytes.Equal([]byte(arguments), asked.Input), "nothing is expanded, and no digit is lost")
	require.Equal(t, tool.TenantID("t1"), asked.Tenant)
	require.Equal(t, sandbox.JavaScript, asked.Language)
	require.Equal(t, "export default x => x;", string(asked.Program))
	require.Equal(t, sandbox.Limits{Time: 500 * time.Millisecond, Memory: 256 << 20, Output: 10 << 10}, asked.Limits)
	require.False(t, asked.Check)
	require.Equal(t, "seen\n", said)

	_, err = e.Execute(ctx, callOf(`{"language": "wasm", "source": "AGFzbQEAAAA="}`, arguments))
	require.NoError(t, err)
	require.Equal(t, "\x00asm\x01\x00\x00\x00", string(asked.Program))
	require.Equal(t, sandbox.DefaultLimits, asked.Limits.Within(sandbox.MaxLimits), "what is not said has its default")
}

// A filter's one output is the answer; none and several are a list.
func TestOutputsOfFilters(t *testing.T) {
	t.Parallel()

	for outputs, want := range map[string]string{
		`[]`:      `{"outputs":[]}`,
		`[[1,2]]`: `[1,2]`,
		`[null]`:  `null`,
		`[1,2.0]`: `{"outputs":[1,2.0]}`,
	} {
		e := artifact.New(box(func(context.Context, sandbox.Job) (*sandbox.Outcome, error) {
			return &sandbox.Outcome{Output: json.RawMessage(outputs)}, nil
		}), artifact.Options{})
		res, err := e.Execute(t.Context(), callOf(`{"language": "jq", "source": ".a[]"}`, `{"a": [], "b/c": 1}`))
		require.NoError(t, err)
		require.Equal(t, want, string(res.Structured))
	}
}

// Nothing runs for a call that lacks what the input schema requires, or whose
// time is over.
func TestNothingRuns(t *testing.T) {
	t.Parallel()

	e := artifact.New(box(func(context.Context, sandbox.Job) (*sandbox.Outcome, error) {
		panic("it runs")
	}), artifact.Options{})
	for arguments, path := range map[string]string{
		`{"a": 1}`:              "/b~1c",
		`{"b/c": 1, "A": true}`: "/a",
		``:                      "/a",
		`[1]`:                   "",
		`null`:                  "",
		`{`:                     "",
	} {
		_, err := e.Execute(t.Context(), callOf(script, arguments))
		require.Equal(t, tool.Invalid, tool.KindOf(err), arguments)
		require.Equal(t, path, tool.AsError(err).Path, arguments)
		require.False(t, tool.AsError(err).Sent)
	}
	_, err := e.Execute(t.Context(), callOf(`{"language": "python", "source": "1"}`, `{"a": 1, "b/c": 2}`))
	require.ErrorContains(t, err, "implementation_config/language")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = e.Execute(over, callOf(script, `{"a": 1, "b/c": 2}`))
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
}

// What a program did wrong is its answer, and names the class.
func TestProgramErrors(t *testing.T) {
	t.Parallel()

	for _, class := range []sandbox.Class{
		sandbox.Failed, sandbox.OverTime, sandbox.OverSpace, sandbox.OverSize, sandbox.OverDepth, sandbox.BadOutput,
		sandbox.Crashed, sandbox.Malformed,
	} {
		e := artifact.New(box(func(context.Context, sandbox.Job) (*sandbox.Outcome, error) {
			return nil, &sandbox.ProgramError{Class: class, Msg: "what happened"}
		}), artifact.Options{})
		res, err := e.Execute(t.Context(), callOf(script, `{"a": 1, "b/c": 2}`))
		require.NoError(t, err)
		require.Equal(t, tool.ErrorResult(string(class)+": what happened"), res)
	}
}

// A program is compiled for whom it is published, and not run.
func TestCompile(t *testing.T) {
	t.Parallel()

	var asked sandbox.Job
	var fail error
	b := box(func(_ context.Context, j sandbox.Job) (*sandbox.Outcome, error) {
		asked = j
		return &sandbox.Outcome{}, fail
	})
	require.NoError(t, artifact.Judge{Box: b}.Compile(t.Context(), "t1", json.RawMessage(script)))
	require.True(t, asked.Check)
	require.Equal(t, tool.TenantID("t1"), asked.Tenant)
	require.EqualValues(t, 256<<20, asked.Limits.Memory, "the tool's memory holds")
	require.NoError(
		t, artifact.Judge{Box: b}.Compile(t.Context(), "t1", json.RawMessage(`{"language": "jq", "source": "."}`)),
	)
	require.Zero(t, asked.Limits.Memory, "the default of calls holds")
	require.NoError(
		t,
		artifact.Judge{Box: b}.CompileUploaded(t.Context(), "t1", "jq", []byte("."),
			json.RawMessage(`{"limits": {"memory_mb": 300}}`)),
	)
	require.EqualValues(t, 300<<20, asked.Limits.Memory)
	require.NoError(
		t,
		artifact.Judge{Box: b, Max: sandbox.Limits{Memory: 400 << 20}}.CompileProgram(t.Context(), "t1", "jq", []byte(".")),
	)
	require.EqualValues(t, 400<<20, asked.Limits.Memory, "no tool is known yet")

	fail = &sandbox.ProgramError{Class: sandbox.Malformed, Msg: "the module does not compile: line 1"}
	err := tool.AsError(artifact.Judge{Box: b}.Compile(t.Context(), "t1", json.RawMessage(script)))
	require.Equal(t, tool.Invalid, err.Kind)
	require.Equal(t, "/source", err.Path)
	require.Equal(t, "the module does not compile: line 1", err.Msg)

	fail = &tool.Error{Kind: tool.Unavailable}
	require.Equal(
		t, tool.Unavailable, tool.KindOf(artifact.Judge{Box: b}.Compile(t.Context(), "t1", json.RawMessage(script))),
		"the check could not be made",
	)
	require.Equal(
		t, "/language", tool.AsError(artifact.Judge{Box: b}.Compile(t.Context(), "t1", json.RawMessage(`{}`))).Path,
	)
}

func TestConformance(t *testing.T) {
	t.Parallel()

	executortest.Run(t, executortest.Harness{
		Inside: true,
		New: func(_ *testing.T, b executortest.Behaviour) executortest.Subject {
			return executortest.Subject{
				Executor: artifact.New(behaving(b), artifact.Options{}),
				Call: func(effectID string) *tool.Call {
					c := callOf(script, `{"a": [1.10], "b/c": 2}`)
					c.EffectID = effectID
					return c
				},
			}
		},
		Lacks: map[executortest.Behaviour]string{
			executortest.Refuses:      "the sandbox is given no credential",
			executortest.BreaksOff:    "a child that dies fails",
			executortest.QuotesSecret: "the executor opens none for it",
			executortest.NoSecret:     "the executor opens none for it",
			executortest.Panics:       "no code of others runs in its process",
		},
	})
}

// behaving is a sandbox whose program, or which itself, behaves so.
func behaving(b executortest.Behaviour) box {
	return func(ctx context.Context, j sandbox.Job) (*sandbox.Outcome, error) {
		switch b {
		case executortest.SaysNo:
			return nil, &sandbox.ProgramError{Class: sandbox.Failed, Msg: "Error: " + executortest.Reason}
		case executortest.Saturated:
			return nil, &tool.Error{
				Kind:       tool.RateLimited,
				Msg:        "all sandboxes were busy",
				RetryAfter: executortest.RetryAfter,
			}
		case executortest.Fails, executortest.Unreachable:
			return nil, &tool.Error{Kind: tool.Unavailable, Msg: "the sandbox does not start"}
		case executortest.Hangs:
			<-ctx.Done()
			return nil, &tool.Error{Kind: tool.Timeout, Msg: "the call's deadline passed before the program's", Err: ctx.Err()}
		case executortest.Overflows:
			return &sandbox.Outcome{Output: json.RawMessage(`"` + strings.Repeat("x", 2*executortest.MaxBytes) + `"`)}, nil
		case executortest.Answers, executortest.Refuses, executortest.BreaksOff, executortest.QuotesSecret,
			executortest.NoSecret, executortest.Panics:
		}
		return &sandbox.Outcome{Output: bytes.Clone(j.Input)}, nil
	}
}
