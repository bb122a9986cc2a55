package function_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

type addInput struct {
	A    int64   `json:"a" jsonschema:"the first number"`
	B    int64   `json:"b,omitempty"`
	Note any     `json:"note,omitempty"`
	Rate float64 `json:"rate,omitempty"`
}

type addOutput struct {
	Sum  int64 `json:"sum"`
	Note any   `json:"note,omitempty"`
}

func add(_ context.Context, in addInput) (addOutput, error) {
	return addOutput{Sum: in.A + in.B, Note: in.Note}, nil
}

func call(name, args string) *tool.Call {
	return &tool.Call{
		CallIdentity: tool.CallIdentity{
			CallID:    "call_1",
			EffectID:  "effect-1",
			Mode:      tool.Production,
			Principal: tool.Principal{Tenant: "t1", Subject: "user:ada"},
		}, Attempt: 2, Egress: tool.EgressNone,
		Version: &tool.Version{Slug: "adder", Number: "1.2.0", Snapshot: tool.Snapshot{Definition: tool.Definition{
			Implementation: tool.Function, Config: json.RawMessage(`{"function_name": "` + name + `"}`),
		}}},
		Arguments: json.RawMessage(args),
	}
}

func TestDefineDerivesSchemas(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "add", "Adds two numbers.", add,
		function.Pure(), function.Timeout(3*time.Second), function.Concurrency("math", 4),
		function.Egress(tool.EgressReadOnly)))
	require.Equal(t, []string{"add"}, reg.Names())
	got, ok := reg.Tool("add")
	require.True(t, ok)
	require.Equal(t, tool.Function, got.Definition.Implementation)
	require.JSONEq(t, `{"function_name": "add"}`, string(got.Definition.Config))
	require.NoError(t, reg.CheckConfig(got.Definition.Config))
	require.JSONEq(t, `{"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
		"a": {"type": "integer", "description": "the first number"}, "b": {"type": "integer"}, "note": true, "rate": {"type": "number"}}}`,
		string(got.Definition.InputSchema))
	require.JSONEq(
		t,
		`{"type": "object", "required": ["sum"], "additionalProperties": false, "properties": {"sum": {"type": "integer"}, "note": true}}`,
		string(got.Definition.OutputSchema),
	)
	for given, want := range map[time.Duration]time.Duration{
		1500 * time.Millisecond: 1500 * time.Millisecond, time.Microsecond: time.Millisecond, time.Minute: time.Minute,
	} {
		var timed function.Tool
		function.Timeout(given)(&timed)
		require.Equal(t, want, timed.Definition.Execution.Timeout())
	}
	require.Equal(t, tool.Execution{Pure: true, TimeoutSeconds: 3, ConcurrencyGroup: "math", MaxConcurrency: 4},
		got.Definition.Execution)
	require.Equal(t, tool.EgressReadOnly, got.Policy.EgressClass)

	got.Definition.InputSchema[0] = 'x'
	again, _ := reg.Tool("add")
	require.True(t, json.Valid(again.Definition.InputSchema), "the registry keeps its own")
	_, ok = reg.Tool("absent")
	require.False(t, ok)
}

func TestDefineRefusesMistakes(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "add", "", add))
	require.ErrorContains(t, function.Define(reg, "add", "", add), "taken")
	require.ErrorContains(t, function.Define(reg, "2add", "", add), "want a letter")
	require.ErrorContains(t, function.Define(reg, "n", "", func(context.Context, int) (int, error) { return 0, nil }),
		"not a JSON object")
	require.ErrorContains(
		t, function.Define(reg, "c", "", func(context.Context, addInput) (chan int, error) { return nil, nil }),
		"output schema",
	)
}

func TestExecute(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "add", "", add))
	e := function.New(reg)
	for args, want := range map[string]string{
		`{"a": 1, "b": 2}`:                               `{"sum":3}`,
		`{"a": 9223372036854775806, "b": 1}`:             `{"sum":9223372036854775807}`,
		`{"a": 1, "note": 12345678901234567890.10}`:      `{"sum":1,"note":12345678901234567890.10}`,
		`{"a": 2.0, "b": 1e2, "note": {"s": "3.0e1"}}`:   `{"sum":102,"note":{"s":"3.0e1"}}`,
		`{"a": -0.5e1, "rate": 0.25, "note": ["\"1.0"]}`: `{"sum":-5,"note":["\"1.0"]}`,
	} {
		res, err := e.Execute(t.Context(), call("add", args))
		require.NoError(t, err, args)
		require.Equal(t, want, string(res.Structured))
		require.False(t, res.IsError)
	}
	for args, path := range map[string]string{
		`{"a": 1.5}`:                 "/a",
		`{"a": 9223372036854775808}`: "/a",
		`{"a": "1"}`:                 "/a",
		`{"a": 1, "c": 1}`:           "",
		`{"a": 1} {}`:                "",
		`{"a": 1`:                    "",
		`{"a": 1e99}`:                "/a",
	} {
		_, err := e.Execute(t.Context(), call("add", args))
		require.Equal(t, tool.Invalid, tool.KindOf(err), args)
		require.Equal(t, path, tool.AsError(err).Path, args)
		require.False(t, tool.AsError(err).Sent)
	}
}

func TestCheckConfig(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "add", "", add))
	require.NoError(t, reg.CheckConfig(json.RawMessage(`{"type": "function", "function_name": "add"}`)))
	for config, path := range map[string]string{
		``: "/function_name", `{}`: "/function_name", `{"function_name": ""}`: "/function_name",
		`{"function_name": "sub"}`: "/function_name", `{"function_name": 1}`: "/function_name",
		`{"type": "http", "function_name": "add"}`: "/type", `{"function_name": "add", "x": 1}`: "", `[`: "",
	} {
		err := reg.CheckConfig(json.RawMessage(config))
		require.Equal(t, tool.Invalid, tool.KindOf(err), config)
		require.Equal(t, path, tool.AsError(err).Path, config)
	}
	_, err := function.New(reg).Execute(t.Context(), call("sub", `{}`))
	require.Equal(t, tool.Invalid, tool.KindOf(err), "a function that is not registered never runs")
}

// TestDeclarationsHold proves that no tool's definition and policy make less of
// a function than its host declared: for every class, claim and declaration.
func TestDeclarationsHold(t *testing.T) {
	t.Parallel()

	classes := []tool.Egress{tool.EgressNone, tool.EgressReadOnly, tool.EgressWrite}
	repeats := map[string][]function.Option{
		"": nil, "pure": {function.Pure()}, "idempotent": {function.Idempotent()},
		"both": {function.Pure(), function.Idempotent()},
	}
	claims := map[string]tool.Execution{
		"": {}, "pure": {Pure: true}, "idempotent": {Idempotent: true}, "both": {Pure: true, Idempotent: true},
	}
	fits := map[string][]string{
		"": {""}, "pure": {"", "pure", "idempotent", "both"}, "idempotent": {"", "idempotent"},
		"both": {"", "pure", "idempotent", "both"},
	}
	for declaredRank, declared := range classes {
		for repeat, options := range repeats {
			reg, ran := function.NewRegistry(), 0
			require.NoError(t, function.Define(reg, "act", "", func(context.Context, struct{}) (string, error) {
				ran++
				return "done", nil
			},
				append(options, function.Egress(declared))...))
			for callRank, class := range append(classes, "", "all") {
				for claim, x := range claims {
					c := call("act", `{}`)
					c.Egress, c.Version.Snapshot.Execution = class, x
					ran = 0
					_, err := function.New(reg).Execute(t.Context(), c)
					if callRank >= len(classes) {
						callRank = 0 // Neither an absent nor an unknown class allows anything.
					}
					if callRank >= declaredRank && slices.Contains(fits[repeat], claim) {
						require.NoError(t, err, "%s/%s called as %s/%s", declared, repeat, class, claim)
						require.Equal(t, 1, ran)
						continue
					}
					require.Equal(t, tool.Denied, tool.KindOf(err), "%s/%s called as %s/%s", declared, repeat, class, claim)
					require.False(t, tool.AsError(err).Sent)
					require.Contains(t, tool.AsError(err).Msg, "set the tool's e")
					require.Zero(t, ran)
				}
			}
		}
	}
	require.ErrorContains(t, function.Define(function.NewRegistry(), "act", "", add, function.Egress("all")),
		"egress class")
}

// TestTenants proves that others than a function's tenants can't tell it from
// one that is not there.
func TestTenants(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	require.NoError(
		t, function.Define(reg, "add", "", add, function.Tenants("t1", "t2"), function.Egress(tool.EgressWrite)),
	)
	for tenant, serves := range map[tool.TenantID]bool{"t1": true, "t2": true, "t3": false, "": false} {
		c := call("add", `{"a": 1}`)
		c.Principal.Tenant, c.Egress = tenant, tool.EgressWrite
		_, err := function.New(reg).Execute(t.Context(), c)
		if serves {
			require.NoError(t, err)
			continue
		}
		absent := call("sub", `{"a": 1}`)
		_, want := function.New(reg).Execute(t.Context(), absent)
		require.Equal(t, strings.ReplaceAll(want.Error(), "sub", "add"), err.Error())
		require.Equal(t, tool.AsError(want).Path, tool.AsError(err).Path)
	}
	described, ok := reg.Tool("add")
	require.True(t, ok)
	require.Equal(t, []tool.TenantID{"t1", "t2"}, described.Tenants)
}

func TestHowFunctionsEnd(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	type none struct{}
	require.NoError(
		t,
		function.Define(reg, "no", "", func(context.Context, none) (string, error) {
			return "", errors.New("no such order")
		}),
	)
	require.NoError(t, function.Define(reg, "denied", "", func(context.Context, none) (string, error) {
		return "", &tool.Error{Kind: tool.Denied, Msg: "not you"}
	}))
	require.NoError(t, function.Define(reg, "panics", "", func(context.Context, none) (string, error) { panic("oh") }))
	require.NoError(t, function.DefineSync(reg, "panicsAside", "", func(none) (string, error) { panic("oh") }))
	require.NoError(
		t, function.Define(reg, "text", "", func(context.Context, none) (string, error) { return "hello", nil }),
	)
	require.NoError(t, function.Define(reg, "result", "", func(context.Context, none) (*tool.Result, error) {
		return tool.ErrorResult("as it is"), nil
	}))
	require.NoError(
		t, function.Define(reg, "nothing", "", func(context.Context, none) (*tool.Result, error) { return nil, nil }),
	)
	e := function.New(reg)

	res, err := e.Execute(t.Context(), call("no", `{}`))
	require.NoError(t, err)
	require.Equal(t, tool.ErrorResult("no such order"), res)

	res, err = e.Execute(t.Context(), call("text", `{}`))
	require.NoError(t, err)
	require.Equal(t, &tool.Result{Content: []tool.Content{tool.Text("hello")}, Structured: json.RawMessage(`"hello"`)},
		res)

	res, err = e.Execute(t.Context(), call("result", `{}`))
	require.NoError(t, err)
	require.Equal(t, tool.ErrorResult("as it is"), res)

	for name, want := range map[string]tool.Kind{
		"denied": tool.Denied, "panics": tool.InternalError, "panicsAside": tool.InternalError, "nothing": tool.InternalError,
	} {
		_, err = e.Execute(t.Context(), call(name, `{}`))
		require.Equal(t, want, tool.KindOf(err), name)
		require.NotContains(t, tool.AsError(err).Msg, "oh")
	}
}

// TestSyncFunctionIsLeftBehind proves that a function that can't be told to
// stop does not hold its call, and that its late answer disturbs nobody.
func TestSyncFunctionIsLeftBehind(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	release := make(chan struct{})
	returned := make(chan struct{})
	require.NoError(t, function.DefineSync(reg, "hang", "", func(struct{}) (string, error) {
		<-release
		close(returned)
		return "late", nil
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := function.New(reg).Execute(ctx, call("hang", `{}`))
	require.Equal(t, tool.Timeout, tool.KindOf(err))
	require.True(t, tool.AsError(err).Sent, "it may have done something")
	close(release)
	<-returned
}

func TestAsyncFunctionIsAwaited(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "wait", "", func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err := function.New(reg).Execute(ctx, call("wait", `{}`))
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
	require.True(t, tool.AsError(err).Sent)

	_, err = function.New(reg).Execute(ctx, call("wait", `{}`))
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
	require.False(t, tool.AsError(err).Sent, "it never began")
}
