package v1

import (
	"net/http"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// ProblemsPath is where the list of problems is found. The type of a [Problem]
// is this path, a slash and its name.
const ProblemsPath = "/v1/problems"

// ProblemClass is a kind of error that the API returns. Classes are only added: a
// name is never changed or reused.
type ProblemClass struct {
	Type        string    `json:"type" example:"/v1/problems/not_found" doc:"The type of such a problem"`
	Name        string    `json:"name" example:"not_found"`
	Code        tool.Kind `json:"code" enum:"invalid,not_found,denied,conflict,rate_limited,unavailable,timeout,unknown,cancelled,internal" doc:"The coarser code, which programs can rely on to cover what is added later"`
	Status      int       `json:"status" example:"404" doc:"The HTTP status"`
	Title       string    `json:"title" example:"Not found"`
	Retryable   bool      `json:"retryable" doc:"Whether the same request may succeed later"`
	Description string    `json:"description" doc:"When it occurs, and what to do"`
}

// Names of problems that are not kinds of tool.Error. The others have the name of
// their kind.
const (
	MalformedRequest     = "malformed_request"
	MalformedJSON        = "malformed_json"
	Unauthenticated      = "unauthenticated"
	NoSuchEndpoint       = "no_such_endpoint"
	MethodNotAllowed     = "method_not_allowed"
	NotAcceptable        = "not_acceptable"
	RequestTimeout       = "request_timeout"
	PreconditionFailed   = "precondition_failed"
	BodyTooLarge         = "body_too_large"
	URITooLong           = "uri_too_long"
	UnsupportedMediaType = "unsupported_media_type"
	HeadersTooLarge      = "headers_too_large"
	KeyMalformed         = "idempotency_key_malformed"
	KeyInUse             = "idempotency_key_in_use"
	KeyReused            = "idempotency_key_reused"
	AnswerWithheld       = "answer_withheld"
	EncryptionMissing    = "encryption_not_configured"
	Misdirected          = "misdirected_request"
)

var problemClasses = []ProblemClass{
	class(tool.Invalid, "", http.StatusUnprocessableEntity, "Invalid",
		"A definition, a body or a parameter is wrong. `path` points at the value; `errors` lists every fault where there "+
			"are several."),
	class(tool.NotFound, "", http.StatusNotFound, "Not found",
		"There is no such resource, or it is not visible to the caller: a resource of another tenant is answered in the "+
			"same words."),
	class(tool.Denied, "", http.StatusForbidden, "Denied",
		"The key lacks a permission, or policy denies the request."),
	class(tool.Conflict, "", http.StatusConflict, "Conflict",
		"The state of the resource does not allow it. Read it again, then decide."),
	class(tool.RateLimited, "", http.StatusTooManyRequests, "Rate limited",
		"Retry later; `Retry-After` says when, if that is known."),
	class(tool.Unavailable, "", http.StatusServiceUnavailable, "Unavailable",
		"A dependency of the API does not respond."),
	class(tool.Timeout, "", http.StatusGatewayTimeout, "Timeout",
		"The time limit passed. The operation may continue: use an `Idempotency-Key` for requests that must not run twice."),
	class(tool.Unknown, "", http.StatusBadGateway, "Outcome unknown",
		"The call may or may not have had its effect. Check before calling again."),
	class(tool.Cancelled, "", http.StatusConflict, "Cancelled",
		"The run or the call was cancelled."),
	class(tool.InternalError, "", http.StatusInternalServerError, "Internal error",
		"A defect of the platform. Search the log for the trace id."),
	class(tool.Invalid, MalformedRequest, http.StatusBadRequest, "Malformed request",
		"The request cannot be read, for example because its body is missing or incomplete."),
	class(tool.Invalid, MalformedJSON, http.StatusBadRequest, "Malformed JSON",
		"The body is not JSON. `detail` names the line and the column."),
	class(tool.Denied, Unauthenticated, http.StatusUnauthorized, "Unauthenticated",
		"The request has no API key, or an invalid one. Send it as `Authorization: Bearer tck_…`."),
	class(tool.NotFound, NoSuchEndpoint, http.StatusNotFound, "No such endpoint",
		"`/openapi.json` and `/docs` list the endpoints."),
	class(tool.NotFound, MethodNotAllowed, http.StatusMethodNotAllowed, "Method not allowed",
		"The endpoint does not have this method; `Allow` lists those that it has."),
	class(tool.Invalid, NotAcceptable, http.StatusNotAcceptable, "Not acceptable",
		"The endpoint answers in none of the media types of `Accept`."),
	class(tool.Timeout, RequestTimeout, http.StatusRequestTimeout, "Request timeout",
		"The body did not arrive in time."),
	class(tool.Conflict, PreconditionFailed, http.StatusPreconditionFailed, "Precondition failed",
		"The resource no longer matches `If-Match`: it was changed meanwhile. Read it again, then decide."),
	class(tool.Invalid, BodyTooLarge, http.StatusRequestEntityTooLarge, "Body too large",
		"The body exceeds the limit of the endpoint, which `detail` names."),
	class(tool.Invalid, URITooLong, http.StatusRequestURITooLong, "URI too long",
		"Path and query exceed the limit, which `detail` names."),
	class(tool.Invalid, UnsupportedMediaType, http.StatusUnsupportedMediaType, "Unsupported media type",
		"The body must be `application/json`."),
	class(tool.Invalid, HeadersTooLarge, http.StatusRequestHeaderFieldsTooLarge, "Headers too large",
		"The headers exceed the limit, which `detail` names."),
	class(tool.Invalid, KeyMalformed, http.StatusBadRequest, "Malformed idempotency key",
		"`Idempotency-Key` must be one value of 1 to 255 printable ASCII characters."),
	retryable(class(tool.Conflict, KeyInUse, http.StatusConflict, "Idempotency key in use",
		"A request with this key is being served. Send it again after `Retry-After`.")),
	class(tool.Invalid, KeyReused, http.StatusUnprocessableEntity, "Idempotency key reused",
		"The key was sent before with another request: another endpoint, parameter or body. "+
			"Use a new key for a new request."),
	class(tool.Conflict, AnswerWithheld, http.StatusConflict, "Answer withheld",
		"The request was already served, and its answer held a secret, which is not stored. `instance` is what it created."),
	lasting(class(tool.Unavailable, EncryptionMissing, http.StatusServiceUnavailable, "Encryption not configured",
		"The server has no key-encryption key, so it stores no credentials. `detail` says what its operator must "+
			"configure.")),
	class(tool.Denied, Misdirected, http.StatusMisdirectedRequest, "Misdirected request",
		"The server is not reached by the name in `Host`. `detail` names the setting by which its operator adds one."),
}

// class describes a problem; one without a name is named as its kind.
func class(code tool.Kind, name string, status int, title, description string) ProblemClass {
	if name == "" {
		name = string(code)
	}
	return ProblemClass{
		Type: ProblemsPath + "/" + name, Name: name, Code: code, Status: status, Title: title,
		Retryable: code.Retryable(), Description: description,
	}
}

// lasting marks a problem that is not retryable: it remains until it is fixed.
func lasting(c ProblemClass) ProblemClass {
	c.Retryable = false
	return c
}

func retryable(c ProblemClass) ProblemClass {
	c.Retryable = true
	return c
}

// ProblemClasses lists every problem that the API returns.
func ProblemClasses() []ProblemClass { return slices.Clone(problemClasses) }

// FindProblemClass returns the class with a name, and whether there is one.
func FindProblemClass(name string) (ProblemClass, bool) {
	i := slices.IndexFunc(problemClasses, func(c ProblemClass) bool { return c.Name == name })
	if i < 0 {
		return ProblemClass{}, false
	}
	return problemClasses[i], true
}

// Problem returns a problem of the class.
func (c ProblemClass) Problem(detail string) *Problem {
	return &Problem{Type: c.Type, Title: c.Title, Status: c.Status, Code: c.Code, Detail: detail, Retryable: c.Retryable}
}
