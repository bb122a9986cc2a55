package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// statusOf is the one HTTP status of each kind. HTTP's own refusals, of a
// request that never came to mean anything, keep their more exact ones: 400,
// 401, 405, 406, 413, 415.
func statusOf(kind tool.Kind) int {
	switch kind {
	case tool.Invalid:
		return http.StatusUnprocessableEntity
	case tool.NotFound:
		return http.StatusNotFound
	case tool.Denied:
		return http.StatusForbidden
	case tool.Conflict, tool.Cancelled:
		return http.StatusConflict
	case tool.RateLimited:
		return http.StatusTooManyRequests
	case tool.Unavailable:
		return http.StatusServiceUnavailable
	case tool.Timeout:
		return http.StatusGatewayTimeout
	case tool.Unknown:
		return http.StatusBadGateway
	case tool.InternalError:
		return http.StatusInternalServerError
	default:
		return http.StatusInternalServerError
	}
}

// problemOf returns the problem that tells of err. The text of anything but a
// [*tool.Error] stays out of it, and so does every cause.
func problemOf(err error) *v1.Problem {
	if p, ok := errors.AsType[*v1.Problem](err); ok {
		return p
	}
	e := tool.AsError(err)
	status := statusOf(e.Kind)
	p := &v1.Problem{
		Title: http.StatusText(status), Status: status, Code: e.Kind, Detail: e.Msg, Path: e.Path,
		Retryable: e.Kind.Retryable(), RetryAfter: e.RetryAfter.Seconds(),
	}
	if e.Kind == tool.InternalError {
		p.Detail = "something is wrong on our side; the log has it under the trace id"
	}
	return p
}

// kindOf returns the kind that stands for a status HTTP itself refuses with.
func kindOf(status int) tool.Kind {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return tool.NotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return tool.Denied
	case http.StatusConflict:
		return tool.Conflict
	case http.StatusTooManyRequests:
		return tool.RateLimited
	case http.StatusServiceUnavailable:
		return tool.Unavailable
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return tool.Timeout
	}
	if status < http.StatusInternalServerError {
		return tool.Invalid
	}
	return tool.InternalError
}

// transform turns the framework's errors into problems, and gives every
// problem the trace id of its request. It never repeats a value back.
func transform(ctx huma.Context, _ string, v any) (any, error) {
	var p v1.Problem
	switch v := v.(type) {
	case *huma.ErrorModel:
		p = frameworkProblem(v)
	case *v1.Problem:
		p = *v
	default:
		return v, nil
	}
	p.TraceID = traceID(ctx.Context())
	return &p, nil
}

func frameworkProblem(m *huma.ErrorModel) v1.Problem {
	kind := kindOf(m.Status)
	p := v1.Problem{
		Title: http.StatusText(m.Status), Status: m.Status, Code: kind, Detail: m.Detail, Retryable: kind.Retryable(),
	}
	for _, e := range m.Errors {
		if e != nil {
			p.Errors = append(p.Errors, v1.FieldError{Path: location(e.Location), Detail: e.Message})
		}
	}
	if len(p.Errors) > 0 {
		p.Path = p.Errors[0].Path
		p.Detail = describe(p.Errors)
	}
	if len(p.Errors) == 1 {
		p.Errors = nil
	}
	return p
}

// describe puts the first fault into words, and says how many more there are.
func describe(faults []v1.FieldError) string {
	text := faults[0].Detail
	if faults[0].Path != "" {
		text = faults[0].Path + ": " + text
	}
	if len(faults) > 1 {
		text += " (and more: see errors)"
	}
	return text
}

// location turns the framework's "body.tools[3].name" into the JSON Pointer
// "/tools/3/name", and "query.limit" into "limit".
func location(text string) string {
	place, rest, _ := strings.Cut(text, ".")
	switch place {
	case "body":
		if rest == "" {
			return ""
		}
		return "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(rest)
	case "path", "query", "header":
		return rest
	default:
		return text
	}
}
