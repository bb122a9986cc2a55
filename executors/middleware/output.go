package middleware

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Output validates the structured content of results against the output schema of
// the tool's version. A version without one, and error results, pass.
//
// A mismatch is not a failure: the call completes with an error result that says
// where the value breaks the schema. It is not retried, since the tool has run.
// Where the version's output check is [tool.OutputWarn], the result is passed on
// unchanged, with that text in Mismatch.
//
// Validate returns how value breaks schema, as a bare [*tool.Error] of kind Invalid
// with the JSON Pointer of the fault; any other error, wrapped ones included, means
// that the schema itself is unusable: a defect of the platform, which published
// it.
func Output(validate func(ctx context.Context, schema, value json.RawMessage) error) tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			res, err := next.Execute(ctx, call)
			if err != nil || res == nil || res.IsError || call.Version == nil || len(call.Version.Snapshot.OutputSchema) == 0 {
				return res, err
			}
			if len(res.Structured) == 0 {
				return outside(call, res, "", "there is no structured value"), nil
			}
			// The tool has run: keep its result even if the caller is gone.
			err = validate(context.WithoutCancel(ctx), call.Version.Snapshot.OutputSchema, res.Structured)
			if err == nil {
				return res, nil
			}
			if e, ok := err.(*tool.Error); ok && //nolint:errorlint // A wrapped one is about the schema.
				e.Kind == tool.Invalid {
				return outside(call, res, e.Path, e.Msg), nil
			}
			return nil, &tool.Error{
				Kind: tool.InternalError, Op: "middleware.Output", Msg: "the tool's output schema can't be used", Sent: true,
				Answered: true, Err: err,
			}
		})
	}
}

// outside returns the outcome of a result that breaks its schema.
func outside(call *tool.Call, res *tool.Result, path, why string) *tool.Result {
	at := ""
	if !strings.Contains(why, path) || path == "" {
		at = " at " + cmp.Or(path, "/")
	}
	text := "the tool's answer breaks its output schema" + at + ": " + why
	if !call.Version.Snapshot.WarnsOutput() {
		return tool.ErrorResult(text)
	}
	passed := *res // Do not change the executor's result.
	passed.Mismatch = text
	return &passed
}
