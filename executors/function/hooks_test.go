package function_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// journal notes what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

func (j *journal) hooks(name string) function.Hooks {
	return function.Hooks{
		Open:     func(context.Context) error { j.note("open " + name); return nil },
		Close:    func() error { j.note("close " + name); return nil },
		Start:    func(context.Context) error { j.note("start"); return nil },
		Complete: func(_ context.Context, res *tool.Result) { j.note("complete " + string(res.Structured)) },
		Error: func(_ context.Context, err error) (*tool.Result, error) {
			j.note("error " + err.Error())
			return nil, err
		},
	}
}

func (j *journal) around(mark string) tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			j.note(mark + " before")
			res, err := next.Execute(ctx, call)
			j.note(mark + " after")
			return res, err
		})
	}
}

// Middleware is outside of the hooks, the first one given outermost, and each
// start is followed by one completion or one error.
func TestMiddlewareAndHooksSurroundCalls(t *testing.T) {
	t.Parallel()

	for name, define := range map[string]func(
		*function.Registry, func(addInput) (addOutput, error), ...function.Option,
	) error{
		"with a context": func(reg *function.Registry, fn func(addInput) (addOutput, error), opts ...function.Option) error {
			return function.Define(reg, "add", "", func(_ context.Context, in addInput) (addOutput, error) { return fn(in) },
				opts...)
		},
		"without a context": func(
			reg *function.Registry, fn func(addInput) (addOutput, error), opts ...function.Option,
		) error {
			return function.DefineSync(reg, "add", "", fn, opts...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var j journal
			reg := function.NewRegistry()
			require.NoError(t, define(reg, func(in addInput) (addOutput, error) {
				j.note("run")
				switch in.A {
				case 0:
					return addOutput{}, errors.New("nothing to add")
				case 1:
					panic("oh")
				default:
					return addOutput{Sum: in.A + in.B}, nil
				}
			}, function.With(j.around("outer"), j.around("inner")), function.Lifecycle(j.hooks("add"))))
			require.NoError(t, reg.Open(t.Context()))
			require.Equal(t, []string{"open add"}, j.take())
			e := function.New(reg)

			res, err := e.Execute(t.Context(), call("add", `{"a": 2}`))
			require.NoError(t, err)
			require.False(t, res.IsError)
			require.Equal(
				t, []string{"outer before", "inner before", "start", "run", `complete {"sum":2}`, "inner after", "outer after"},
				j.take(),
			)

			res, err = e.Execute(t.Context(), call("add", `{"a": 0}`))
			require.NoError(t, err)
			require.Equal(t, tool.ErrorResult("nothing to add"), res)
			require.Equal(
				t, []string{"outer before", "inner before", "start", "run", "error nothing to add", "inner after", "outer after"},
				j.take(),
			)

			_, err = e.Execute(t.Context(), call("add", `{"a": 1}`))
			require.Equal(t, tool.InternalError, tool.KindOf(err))
			require.Contains(t, j.take()[4], "panicked")

			_, err = e.Execute(t.Context(), call("add", `{"a": "x"}`))
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			lines := j.take()
			require.Len(t, lines, 6)
			require.Contains(t, lines[3], "error function.Execute: invalid")

			require.NoError(t, reg.Close())
			require.Equal(t, []string{"close add"}, j.take())
		})
	}
}

// The error hook may answer in the function's place, or word its error anew.
func TestErrorHookRecovers(t *testing.T) {
	t.Parallel()

	type none struct{}
	stale := errors.New("stale")
	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "weather", "",
		func(context.Context, none) (string, error) { return "", stale },
		function.Lifecycle(function.Hooks{Error: func(_ context.Context, err error) (*tool.Result, error) {
			if errors.Is(err, stale) {
				return &tool.Result{Content: []tool.Content{tool.Text("as of yesterday: rain")}}, nil
			}
			return nil, err
		}})))
	require.NoError(t, function.Define(reg, "closed", "",
		func(context.Context, none) (string, error) { return "never", nil },
		function.Lifecycle(function.Hooks{Start: func(context.Context) error { return errors.New("closed on Sundays") }})))
	require.NoError(t, function.Define(reg, "broken", "", func(context.Context, none) (string, error) { return "", stale },
		function.Lifecycle(function.Hooks{Error: func(context.Context, error) (*tool.Result, error) { return nil, nil }})))
	require.NoError(t, function.DefineSync(reg, "panics", "", func(none) (string, error) { return "", stale },
		function.Lifecycle(function.Hooks{Error: func(context.Context, error) (*tool.Result, error) { panic("hook") }})))

	e := function.New(reg)
	res, err := e.Execute(t.Context(), call("weather", `{}`))
	require.NoError(t, err)
	require.Equal(t, "as of yesterday: rain", res.Content[0].Text)
	res, err = e.Execute(t.Context(), call("closed", `{}`))
	require.NoError(t, err)
	require.Equal(t, tool.ErrorResult("closed on Sundays"), res)
	for _, name := range []string{"broken", "panics"} {
		_, err = e.Execute(t.Context(), call(name, `{}`))
		require.Equal(t, tool.InternalError, tool.KindOf(err), name)
	}
}

// A middleware changes arguments by a copy, answers by itself, and measures.
func TestMiddlewareDecides(t *testing.T) {
	t.Parallel()

	doubling := func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			changed := *call
			changed.Arguments = []byte(`{"a": 40, "b": 2}`)
			return next.Execute(ctx, &changed)
		})
	}
	guarding := func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			if call.Principal.Tenant != "t1" {
				return nil, &tool.Error{Kind: tool.Denied, Op: "guarding", Msg: "not you"}
			}
			return next.Execute(ctx, call)
		})
	}
	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "add", "", add, function.With(guarding, doubling)))
	e := function.New(reg)
	c := call("add", `{"a": 1}`)
	res, err := e.Execute(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, `{"sum":42}`, string(res.Structured))
	require.Equal(t, `{"a": 1}`, string(c.Arguments), "the caller's call is as it was")
	c.Principal.Tenant = "t2"
	_, err = e.Execute(t.Context(), c)
	require.Equal(t, tool.Denied, tool.KindOf(err))
}

// The registry opens in the order of definition, closes in the opposite one,
// and counts who holds it open.
func TestRegistryOpensAndCloses(t *testing.T) {
	t.Parallel()

	var j journal
	reg := function.NewRegistry()
	for _, name := range []string{"b", "a", "c"} {
		require.NoError(
			t,
			function.Define(
				reg, name, "", add, function.Lifecycle(function.Hooks{Open: j.hooks(name).Open, Close: j.hooks(name).Close}),
			),
		)
	}
	require.NoError(t, function.Define(reg, "plain", "", add))
	e := function.New(reg)
	_, err := e.Execute(t.Context(), call("a", `{"a": 1}`))
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.False(t, tool.AsError(err).Sent)
	_, err = reg.Run(t.Context(), "a", nil)
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	_, err = e.Execute(t.Context(), call("plain", `{"a": 1}`))
	require.NoError(t, err, "one without hooks needs no opening")

	require.NoError(t, reg.Close(), "it was not open")
	require.NoError(t, reg.Open(t.Context()))
	require.NoError(t, reg.Open(t.Context()))
	require.Equal(t, []string{"open b", "open a", "open c"}, j.take())
	_, err = e.Execute(t.Context(), call("a", `{"a": 1}`))
	require.NoError(t, err)
	require.ErrorContains(t, function.Define(reg, "late", "", add, function.Lifecycle(j.hooks("late"))), "open already")
	require.NoError(t, function.Define(reg, "latePlain", "", add))
	require.NoError(t, reg.Close())
	require.Empty(t, j.take())
	require.NoError(t, reg.Close())
	require.Equal(t, []string{"close c", "close a", "close b"}, j.take())
	_, err = e.Execute(t.Context(), call("a", `{"a": 1}`))
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
}

// A registry that cannot be opened is left closed, with nothing open in it.
func TestRegistryThatFailsToOpenIsClosed(t *testing.T) {
	t.Parallel()

	var j journal
	reg := function.NewRegistry()
	fails := true
	require.NoError(t, function.Define(reg, "first", "", add, function.Lifecycle(function.Hooks{
		Open: j.hooks("first").Open, Close: func() error { j.note("close first"); return errors.New("stuck") },
	})))
	require.NoError(t, function.Define(reg, "second", "", add, function.Lifecycle(function.Hooks{
		Open: func(context.Context) error {
			if fails {
				return errors.New("no database")
			}
			return nil
		},
		Close: func() error { j.note("close second"); return nil },
	})))
	err := reg.Open(t.Context())
	require.ErrorContains(t, err, `opening function "second": no database`)
	require.ErrorContains(t, err, `closing function "first": stuck`)
	require.Equal(t, []string{"open first", "close first"}, j.take())

	fails = false
	require.NoError(t, reg.Open(t.Context()))
	require.ErrorContains(t, reg.Close(), "stuck")
	require.Equal(t, []string{"open first", "close second", "close first"}, j.take())
}

// What a function says before its answer is whole passes through the
// platform's middleware, in order, from functions with a context.
func TestFunctionStreamsItsOutput(t *testing.T) {
	t.Parallel()

	reg := function.NewRegistry()
	require.NoError(t, function.Define(reg, "tell", "", func(ctx context.Context, _ struct{}) (string, error) {
		for _, piece := range []string{"once ", "", "upon ", "a time"} {
			tool.AppendOutput(ctx, piece)
		}
		return "once upon a time", nil
	}))
	var j journal
	res, err := function.New(reg).Execute(tool.WithOutput(t.Context(), j.note), call("tell", `{}`))
	require.NoError(t, err)
	require.Equal(t, []string{"once ", "upon ", "a time"}, j.take())
	require.Equal(t, `"once upon a time"`, string(res.Structured))
	_, err = reg.Run(t.Context(), "tell", nil)
	require.NoError(t, err, "nobody has to listen")
}

// A function that was left behind keeps nothing of its call, and its hooks end.
func TestHooksOfAFunctionLeftBehind(t *testing.T) {
	t.Parallel()

	begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	reg := function.NewRegistry()
	require.NoError(t, function.DefineSync(reg, "hang", "",
		func(struct{}) (string, error) { close(begun); <-release; return "late", nil },
		function.Lifecycle(function.Hooks{Complete: func(context.Context, *tool.Result) { close(ended) }})))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	_, err := function.New(reg).Execute(ctx, call("hang", `{}`))
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
	close(release)
	<-ended
}
