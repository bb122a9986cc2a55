package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/tool"
)

// problemOf returns the problem that describes err. It holds the message of a
// [*tool.Error] only, never the text of other errors or of causes.
func problemOf(err error) *v1.Problem {
	if p, ok := errors.AsType[*v1.Problem](err); ok {
		return p
	}
	e := tool.AsError(err)
	p := refusal(string(e.Kind), e.Msg)
	p.Path = e.Path
	if lacking, ok := errors.AsType[*tool.PermissionError](err); ok {
		p.Permissions = lacking.Permissions
	}
	if over, ok := errors.AsType[*quota.ExceededError](err); ok {
		p.Quota = &v1.QuotaUse{Name: string(over.Name), Limit: over.Limit, Used: over.Used}
	}
	if e.RetryAfter > 0 {
		p.RetryAfter = e.RetryAfter.Seconds()
	}
	if e.Acted {
		final(p)
	}
	return p
}

// final marks a problem of a request that must not, or need not, be sent again.
func final(p *v1.Problem) {
	p.Retryable, p.RetryAfter = false, 0
}

// Retry-After of transient problems, in seconds, if their cause names no time.
const (
	retryUnavailable = 2
	retryLimited     = 1
)

// refusal returns a problem of the named class. Every problem is created here,
// so that each has a listed class.
func refusal(name, detail string) *v1.Problem {
	class, known := v1.FindProblemClass(name)
	if !known || class.Code == tool.InternalError {
		class, _ = v1.FindProblemClass(string(tool.InternalError))
		detail = "internal error: search the server's log for the trace id"
	}
	p := class.Problem(detail)
	switch {
	case class.Retryable && class.Status == http.StatusServiceUnavailable:
		p.RetryAfter = retryUnavailable
	case class.Retryable && class.Status == http.StatusTooManyRequests:
		p.RetryAfter = retryLimited
	}
	return p
}

// refused lists the names of problems by the status with which the framework
// refuses a request.
var refused = map[int]string{
	http.StatusBadRequest:            v1.MalformedRequest,
	http.StatusUnauthorized:          v1.Unauthenticated,
	http.StatusForbidden:             string(tool.Denied),
	http.StatusNotFound:              string(tool.NotFound),
	http.StatusMethodNotAllowed:      v1.MethodNotAllowed,
	http.StatusNotAcceptable:         v1.NotAcceptable,
	http.StatusRequestTimeout:        v1.RequestTimeout,
	http.StatusConflict:              string(tool.Conflict),
	http.StatusPreconditionFailed:    v1.PreconditionFailed,
	http.StatusRequestEntityTooLarge: v1.BodyTooLarge,
	http.StatusUnsupportedMediaType:  v1.UnsupportedMediaType,
	http.StatusUnprocessableEntity:   string(tool.Invalid),
}

// transform converts the framework's errors to problems, and gives every
// problem the trace id of its request. It never echoes a value of the request.
func (s *server) transform(ctx huma.Context, _ string, v any) (any, error) {
	var p v1.Problem
	switch v := v.(type) {
	case *huma.ErrorModel:
		p = frameworkProblem(ctx.Operation(), s.api.OpenAPI().Components.Schemas, v)
	case *v1.Problem:
		p = *v
	default:
		return v, nil
	}
	p.TraceID = traceID(ctx.Context())
	return &p, nil
}

func frameworkProblem(op *huma.Operation, schemas huma.Registry, m *huma.ErrorModel) v1.Problem {
	p := *refusal(refused[m.Status], m.Detail)
	for _, e := range m.Errors {
		if e != nil {
			p.Errors = append(p.Errors, v1.FieldError{Path: location(e.Location), Detail: suggest(op, schemas, e)})
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

// describe returns the text of the first fault, and whether there are more.
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

// location converts the framework's "body.tools[3].name" to the JSON Pointer
// "/tools/3/name", and "query.limit" to "limit".
func location(text string) string {
	place, rest, _ := strings.Cut(text, ".")
	switch place {
	case "body":
		if rest == "" {
			return ""
		}
		return "/" + strings.NewReplacer("~", "~0", "/", "~1", ".", "/", "[", "/", "]", "").Replace(rest)
	case "path", "query", "header":
		return rest
	default:
		return text
	}
}
