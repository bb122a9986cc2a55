package middleware_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run sends a call through one middleware to what do does.
func run(
	t *testing.T, m tool.Middleware, call *tool.Call, do func(context.Context) (*tool.Result, error),
) (*tool.Result, error) {
	t.Helper()
	return m(
		tool.ExecutorFunc(func(ctx context.Context, _ *tool.Call) (*tool.Result, error) { return do(ctx) }),
	).Execute(
		t.Context(),
		call,
	)
}

func TestDeadline(t *testing.T) {
	t.Parallel()

	wait := func(err error) func(context.Context) (*tool.Result, error) {
		return func(ctx context.Context) (*tool.Result, error) { <-ctx.Done(); return nil, err }
	}
	tests := []struct {
		name   string
		egress tool.Egress
		err    error
		kind   tool.Kind
		sent   bool
	}{
		{"plain error", tool.EgressWrite, context.DeadlineExceeded, tool.Timeout, true},
		{"plain error of a tool that may not call out", tool.EgressNone, context.DeadlineExceeded, tool.Timeout, false},
		{"typed, not sent", tool.EgressWrite, &tool.Error{Kind: tool.Unavailable}, tool.Timeout, false},
		{
			"typed, sent", tool.EgressWrite, fmt.Errorf("wrapped: %w", &tool.Error{Kind: tool.Timeout, Sent: true}),
			tool.Timeout, true,
		},
		{"refused", tool.EgressWrite, &tool.Error{Kind: tool.Denied}, tool.Denied, false},
		{"rate limited", tool.EgressWrite, &tool.Error{Kind: tool.RateLimited, Sent: true}, tool.RateLimited, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			call := &tool.Call{Timeout: 10 * time.Millisecond, Egress: tt.egress}
			res, err := run(t, middleware.Deadline(), call, wait(tt.err))
			require.Nil(t, res)
			require.Equal(t, tt.kind, tool.KindOf(err))
			require.Equal(t, tt.sent, tool.AsError(err).Sent)
		})
	}
	t.Run("an answer counts, however late", func(t *testing.T) {
		t.Parallel()

		res, err := run(t, middleware.Deadline(), &tool.Call{Timeout: time.Millisecond},
			func(ctx context.Context) (*tool.Result, error) {
				<-ctx.Done()
				return tool.ErrorResult("late"), nil
			})
		require.NoError(t, err)
		require.NotNil(t, res)
	})
	t.Run("errors in time stay what they are", func(t *testing.T) {
		t.Parallel()

		want := errors.New("oh")
		_, err := run(t, middleware.Deadline(), &tool.Call{}, func(ctx context.Context) (*tool.Result, error) {
			at, ok := ctx.Deadline()
			require.True(t, ok, "there is a deadline always")
			require.InDelta(t, 30*time.Second, time.Until(at), float64(5*time.Second), "30,000 ms")
			return nil, want
		})
		require.Equal(t, want, err)
	})
}

// Who reads that a tool took too long can tell which one, how long it had, and
// where to give it longer.
func TestDeadlineSaysWhatToDo(t *testing.T) {
	t.Parallel()

	call := &tool.Call{Timeout: 10 * time.Millisecond, Version: &tool.Version{Slug: "findOrder", Number: "1.2.0"}}
	_, err := run(t, middleware.Deadline(), call, func(ctx context.Context) (*tool.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	require.Equal(
		t,
		"the tool findOrder@1.2.0 did not answer within 10ms; if it needs longer, raise execution.timeout_s "+
			"in its definition",
		tool.AsError(err).Msg,
	)
}

func TestRecover(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name, logged string
		do           func()
	}{
		{"index out of range", "index out of range", func() { var a []int; _ = a[len(a)] }},
		{"a text", `"panic":"string"`, func() { panic("s3cr3t") }},
		{"an error", `"panic":"*errors.errorString"`, func() { panic(errors.New("s3cr3t")) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var log bytes.Buffer
			call := &tool.Call{
				CallIdentity: tool.CallIdentity{CallID: "call_1", Principal: tool.Principal{Tenant: "t1"}},
				Egress:       tool.EgressWrite,
			}
			res, err := run(t, middleware.Recover(slog.New(slog.NewJSONHandler(&log, nil))), call,
				func(context.Context) (*tool.Result, error) {
					tt.do()
					return nil, nil
				})
			require.Nil(t, res)
			require.Equal(t, tool.InternalError, tool.KindOf(err))
			require.True(t, tool.AsError(err).Sent)
			require.Contains(t, log.String(), tt.logged)
			require.Contains(t, log.String(), "middleware_test.go", "the stack is logged")
			require.Contains(t, log.String(), `"call_id":"call_1"`)
			require.NotContains(t, log.String()+err.Error(), "s3cr3t")
		})
	}
}

func TestSizeLimit(t *testing.T) {
	t.Parallel()

	half := strings.Repeat("x", 50)
	raw := json.RawMessage(`"` + strings.Repeat("x", 90) + `"`)
	for name, tt := range map[string]struct {
		res *tool.Result
		ok  bool
	}{
		"small":      {&tool.Result{Content: []tool.Content{tool.Text(half)}}, true},
		"just right": {&tool.Result{Content: []tool.Content{tool.Text(half), tool.Text(half)}}, true},
		"sum": {
			&tool.Result{Content: []tool.Content{tool.Text(half), tool.Text(half), tool.Text("x")}}, false,
		},
		"structured counts once": {tool.JSONResult(raw), true},
		"structured beside text": {&tool.Result{Content: []tool.Content{tool.Text(half)}, Structured: raw}, false},
		"binary": {
			&tool.Result{Content: []tool.Content{{Type: tool.ContentImage, Data: make([]byte, 101)}}}, false,
		},
		"an answer no that is as big": {tool.ErrorResult(half + half + half), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			res, err := run(t, middleware.SizeLimit(100), &tool.Call{}, func(context.Context) (*tool.Result, error) {
				return tt.res, nil
			})
			require.NoError(t, err)
			if tt.ok {
				require.Same(t, tt.res, res)
				return
			}
			require.True(t, res.IsError)
			require.Contains(t, res.Content[0].Text, "more than the limit of 100")
		})
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()

	schemas := schema.New(8)
	validate := func(ctx context.Context, s, value json.RawMessage) error {
		compiled, err := schemas.Compile(s)
		if err != nil {
			return fmt.Errorf("compiling: %w", err)
		}
		return compiled.Validate(ctx, value)
	}
	const want = `{"type": "object", "required": ["total"], "properties": {"total": {"type": "integer"}}}`
	for name, tt := range map[string]struct {
		schema string
		res    *tool.Result
		says   string
	}{
		"fits":         {want, tool.JSONResult(json.RawMessage(`{"total": 3}`)), ""},
		"no schema":    {"", &tool.Result{Content: []tool.Content{tool.Text("x")}}, ""},
		"an answer no": {want, tool.ErrorResult("no such order"), ""},
		"misses":       {want, tool.JSONResult(json.RawMessage(`{"total": "3"}`)), "/total"},
		"lacks":        {want, tool.JSONResult(json.RawMessage(`{}`)), "total"},
		"text, no structured": {
			want, &tool.Result{Content: []tool.Content{tool.Text("x")}}, "at /: there is no structured value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			call := callOf(tool.HTTP, `{}`)
			call.Version.Snapshot.OutputSchema = json.RawMessage(tt.schema)
			res, err := run(t, middleware.Output(validate), call, func(context.Context) (*tool.Result, error) {
				return tt.res, nil
			})
			require.NoError(t, err)
			if tt.says == "" {
				require.Same(t, tt.res, res)
				return
			}
			require.True(t, res.IsError)
			require.Contains(t, res.Content[0].Text, "the tool's answer breaks its output schema")
			require.Contains(t, res.Content[0].Text, tt.says)

			call.Version.Snapshot.OutputCheck = tool.OutputWarn
			passed, err := run(t, middleware.Output(validate), call, func(context.Context) (*tool.Result, error) {
				return tt.res, nil
			})
			require.NoError(t, err)
			require.Equal(t, res.Content[0].Text, passed.Mismatch)
			require.Empty(t, tt.res.Mismatch, "the executor's result is its own")
			passed.Mismatch = ""
			require.Equal(t, tt.res, passed, "the answer is passed on as it came")
		})
	}
	t.Run("a schema that can't be used is our defect", func(t *testing.T) {
		t.Parallel()

		call := callOf(tool.HTTP, `{}`)
		call.Version.Snapshot.OutputSchema = json.RawMessage(`{"type": 3}`)
		_, err := run(t, middleware.Output(validate), call, func(context.Context) (*tool.Result, error) {
			return tool.JSONResult(json.RawMessage(`{}`)), nil
		})
		require.Equal(t, tool.InternalError, tool.KindOf(err))
	})
}

// TestRedact plants a secret in every place of an answer.
func TestRedact(t *testing.T) {
	t.Parallel()

	const planted = "s3cr3t-planted"
	open := func(ctx context.Context) {
		_, err := secret.Open(ctx, secret.ResolverFunc(func(context.Context, tool.TenantID, string) (secret.Value, error) {
			return secret.NewValue(planted), nil
		}), "t1", "ref")
		require.NoError(t, err)
	}
	shared := &tool.Result{
		Content: []tool.Content{
			tool.Text("a " + planted), tool.JSON(json.RawMessage(`{"n": 1.10, "a": "` + planted + `"}`)),
			{
				Type: tool.ContentResource, URI: "https://x.example/?k=" + planted, Name: planted, MIMEType: planted,
				Data: []byte{1},
			},
		},
		Structured: json.RawMessage(`["` + planted + `"]`), Warnings: []string{planted},
	}
	var reported []tool.Progress
	ctx := tool.WithProgress(t.Context(), func(p tool.Progress) { reported = append(reported, p) })
	res, err := middleware.Redact()(tool.ExecutorFunc(func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		open(ctx)
		tool.ReportProgress(ctx, tool.Progress{Message: "with " + planted, Done: 1})
		return shared, nil
	})).Execute(ctx, &tool.Call{})
	require.NoError(t, err)
	raw, err := json.Marshal(res)
	require.NoError(t, err)
	require.NotContains(t, string(raw), planted)
	require.Contains(t, string(raw), `1.10`)
	require.Equal(t, []tool.Progress{{Message: "with [redacted]", Done: 1}}, reported)
	require.Contains(t, shared.Content[0].Text, planted, "an executor's result may be shared: it is copied")

	for _, held := range []string{
		planted, base64.StdEncoding.EncodeToString([]byte(planted)),
		"s\x003\x00c\x00r\x003\x00t\x00-\x00p\x00l\x00a\x00n\x00t\x00e\x00d\x00",
	} {
		image := &tool.Result{Content: []tool.Content{
			{Type: tool.ContentImage, MIMEType: "image/png", Data: []byte("\x89PNG\x00" + held + "\xff")},
			{Type: tool.ContentResource, MIMEType: "application/pdf", Data: []byte("%PDF"), URI: "https://x.example"},
		}}
		res, err := run(t, middleware.Redact(), &tool.Call{}, func(ctx context.Context) (*tool.Result, error) {
			open(ctx)
			return image, nil
		})
		require.NoError(t, err)
		require.Equal(t, []tool.Content{tool.Text("binary content withheld: it held a credential"), image.Content[1]},
			res.Content)
	}
	for _, cause := range []error{
		&tool.Error{Kind: tool.Unavailable, Msg: planted, Path: "/" + planted, Sent: true, Err: errors.New(planted)},
		fmt.Errorf("wrapped %s: %w", planted, &tool.Error{Kind: tool.Unavailable, Msg: "x", Sent: true}),
		errors.New(planted),
	} {
		_, err := run(t, middleware.Redact(), &tool.Call{}, func(ctx context.Context) (*tool.Result, error) {
			open(ctx)
			return nil, cause
		})
		require.NotContains(t, fmt.Sprintf("%v %+v", err, errors.Unwrap(err)), planted)
		e := tool.AsError(err)
		require.NotContains(t, e.Msg+e.Path, planted)
		if tool.KindOf(cause) == tool.Unavailable {
			require.Equal(t, tool.Unavailable, e.Kind)
			require.True(t, e.Sent)
		}
	}
	clean := &tool.Error{Kind: tool.Denied, Msg: "no"}
	_, err = run(t, middleware.Redact(), &tool.Call{}, func(ctx context.Context) (*tool.Result, error) {
		open(ctx)
		return nil, clean
	})
	require.Same(t, clean, err)
}

// A drift is told of even where the words about it held a secret, and without
// it.
func TestRedactedDriftIsTold(t *testing.T) {
	t.Parallel()

	const planted = "s3cr3t-planted"
	drift := func(attempted string) error {
		return fmt.Errorf("asking https://x.example/?k=%s: %w", planted,
			&tool.DriftError{Declared: tool.EgressReadOnly, Attempted: attempted, Err: errors.New(planted)})
	}
	for name, tt := range map[string]struct {
		err       error
		kind      tool.Kind
		attempted string
	}{
		"Cause":     {&tool.Error{Kind: tool.Denied, Msg: "no", Err: drift("POST")}, tool.Denied, "POST"},
		"Attempted": {&tool.Error{Kind: tool.Denied, Msg: "no", Err: drift(planted)}, tool.Denied, secret.Redacted},
		"Message": {
			&tool.Error{
				Kind: tool.Denied, Msg: planted, Err: &tool.DriftError{Declared: tool.EgressReadOnly, Attempted: "POST"},
			},
			tool.Denied, "POST",
		},
		"Bare": {drift("POST"), tool.InternalError, "POST"},
	} {
		_, err := run(t, middleware.Redact(secret.NewValue(planted)), &tool.Call{},
			func(context.Context) (*tool.Result, error) { return nil, tt.err })
		require.Equal(t, tt.kind, tool.KindOf(err), name)
		kept, ok := errors.AsType[*tool.DriftError](err)
		require.True(t, ok, name)
		require.Equal(t, tool.EgressReadOnly, kept.Declared, name)
		require.Equal(t, tt.attempted, kept.Attempted, name)
		for cause := err; cause != nil; cause = errors.Unwrap(cause) {
			require.NotContains(t, cause.Error(), planted, name)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()

	var reported []tool.Progress
	ctx := tool.WithProgress(t.Context(), func(p tool.Progress) { reported = append(reported, p) })
	var late func() // Reports after the end, as an abandoned goroutine would.
	_, err := middleware.Progress()(tool.ExecutorFunc(func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		tool.ReportProgress(ctx, tool.Progress{Message: strings.Repeat("é", 1000), Done: 1, Total: 2})
		late = func() { tool.ReportProgress(ctx, tool.Progress{Message: "after the end"}) }
		return tool.ErrorResult("x"), nil
	})).Execute(ctx, &tool.Call{})
	require.NoError(t, err)
	late()
	require.Len(t, reported, 1)
	require.Equal(t, strings.Repeat("é", 512), reported[0].Message)

	_, err = run(t, middleware.Progress(), &tool.Call{}, func(ctx context.Context) (*tool.Result, error) {
		tool.ReportProgress(ctx, tool.Progress{}) // Nobody listens.
		return tool.ErrorResult("x"), nil
	})
	require.NoError(t, err)
}

// said runs what a call says through a middleware, and returns what arrives.
func said(t *testing.T, m tool.Middleware, say func(context.Context)) []string {
	t.Helper()
	var pieces []string
	ctx := tool.WithOutput(t.Context(), func(text string) { pieces = append(pieces, text) })
	_, err := m(tool.ExecutorFunc(func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		say(ctx)
		return &tool.Result{}, nil
	})).Execute(ctx, &tool.Call{})
	require.NoError(t, err)
	return pieces
}

// Output is bounded, and none comes once the call is over.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()

	var late context.Context
	pieces := said(t, middleware.Progress(), func(ctx context.Context) {
		late = ctx //nolint:fatcontext // To see what comes of it afterwards.
		tool.AppendOutput(ctx, "row 1\n")
		tool.AppendOutput(ctx, "")
		tool.AppendOutput(ctx, "half a rune: \xc3")
		tool.AppendOutput(ctx, strings.Repeat("é", middleware.MaxOutput))
		tool.AppendOutput(ctx, "never told")
	})
	tool.AppendOutput(late, "too late")
	require.Len(t, pieces, 3)
	require.Equal(t, "row 1\n", pieces[0])
	require.Equal(t, "half a rune: \uFFFD", pieces[1])
	require.True(t, utf8.ValidString(pieces[2]), "a rune is not cut in two")
	require.True(t, strings.HasSuffix(pieces[2], "more output was dropped\n"))
	require.Less(t, len(pieces[2]), middleware.MaxOutput+64)
}

// A secret does not show in output, not even when it comes in pieces.
func TestOutputIsRedacted(t *testing.T) {
	t.Parallel()

	const key = "sk-0123456789abcdef"
	pieces := said(t, middleware.Redact(secret.NewValue(key)), func(ctx context.Context) {
		tool.AppendOutput(ctx, "key "+key[:5])
		tool.AppendOutput(ctx, key[5:12])
		tool.AppendOutput(ctx, key[12:]+" used; next is sk")
		tool.AppendOutput(ctx, "-")
	})
	require.Equal(t, "key "+secret.Redacted+" used; next is sk-", strings.Join(pieces, ""),
		"what only looked like it comes in the end")
	for _, p := range pieces {
		require.NotContains(t, p, key[:5])
	}

	opened := said(t, middleware.Redact(), func(ctx context.Context) {
		secret.Note(ctx, secret.NewValue(key))
		for _, r := range "the key is " + key + "." {
			tool.AppendOutput(ctx, string(r))
		}
	})
	require.Equal(t, "the key is "+secret.Redacted+".", strings.Join(opened, ""))
}

func callOf(impl tool.Implementation, config string) *tool.Call {
	return &tool.Call{
		Egress: tool.EgressNone, Version: &tool.Version{Slug: "thing", Number: "1.0.0", Snapshot: tool.Snapshot{
			Definition: tool.Definition{Implementation: impl, Config: []byte(config)},
		}},
	}
}

func marking(mark string) tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			res, err := next.Execute(ctx, call)
			if res != nil {
				res.Content[0].Text = mark + "(" + res.Content[0].Text + ")"
			}
			return res, err
		})
	}
}

func answering(text string) tool.Executor {
	return tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
		return &tool.Result{Content: []tool.Content{tool.Text(text)}}, nil
	})
}
