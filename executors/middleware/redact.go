package middleware

import (
	"context"
	"errors"
	"slices"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Redact removes the secrets that an executor opened for a call from its
// results, warnings, errors, progress and output. Secrets are known from
// [secret.Open]; always lists further ones.
//
// Binary content that contains a secret is withheld as a whole. The cause of an
// error that quotes a secret is replaced by redacted text, except for a
// [tool.DriftError], which is reported by its type.
func Redact(always ...secret.Value) tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			r := secret.NewRedactor(always...)
			inner := tool.WithProgress(secret.WithRedactor(ctx, r), func(p tool.Progress) {
				p.Message = r.Text(p.Message)
				tool.ReportProgress(ctx, p)
			})
			if tool.Watched(ctx) {
				out := cleaned{stream: secret.NewStream(r), next: func(text string) { tool.AppendOutput(ctx, text) }}
				inner = tool.WithOutput(inner, out.say)
				defer out.flush()
			}
			res, err := next.Execute(inner, call)
			return redactResult(r, res), redactError(r, err)
		})
	}
}

func redactResult(r *secret.Redactor, res *tool.Result) *tool.Result {
	if res == nil || r.Empty() {
		return res
	}
	out := *res
	out.Structured = r.JSON(res.Structured)
	out.Content = slices.Clone(res.Content)
	for i := range out.Content {
		c := &out.Content[i]
		if r.Holds(c.Data) {
			*c = tool.Text("binary content withheld: it held a credential")
			continue
		}
		c.Text, c.JSON = r.Text(c.Text), r.JSON(c.JSON)
		c.URI, c.Name, c.MIMEType = r.Text(c.URI), r.Text(c.Name), r.Text(c.MIMEType)
	}
	out.Warnings = slices.Clone(res.Warnings)
	for i, w := range out.Warnings {
		out.Warnings[i] = r.Text(w)
	}
	out.Mismatch = r.Text(res.Mismatch)
	return &out
}

func redactError(r *secret.Redactor, err error) error {
	if err == nil || r.Empty() {
		return err
	}
	text := err.Error()
	if r.Text(text) == text {
		return err
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return &tool.Error{Kind: tool.InternalError, Msg: "internal error", Err: redactCause(r, err)}
	}
	out := *e
	out.Msg, out.Path = r.Text(e.Msg), r.Text(e.Path)
	out.Err = redactCause(r, e.Err)
	return &out
}

// redactCause returns a cause without secrets.
func redactCause(r *secret.Redactor, err error) error {
	if err == nil {
		return nil
	}
	cause := errors.New(r.Text(err.Error()))
	if drift, ok := errors.AsType[*tool.DriftError](err); ok {
		return &tool.DriftError{Declared: drift.Declared, Attempted: r.Text(drift.Attempted), Err: cause}
	}
	return cause
}
