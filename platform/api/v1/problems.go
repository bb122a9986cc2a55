package v1

import (
	"net/http"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// ProblemsPath is where the list of problems is found. The type of a [Problem]
// is this path, a slash and its name.
const ProblemsPath = "/v1/problems"

// ProblemClass is one of the ways in which the API says no. Classes are only
// added: a name is never changed or used for something else.
type ProblemClass struct {
	Type        string    `json:"type" example:"/v1/problems/not_found" doc:"What the type of such a problem is"`
	Name        string    `json:"name" example:"not_found"`
	Code        tool.Kind `json:"code" enum:"invalid,not_found,denied,conflict,rate_limited,unavailable,timeout,unknown,cancelled,internal" doc:"The coarser code, which programs can rely on to cover what is added later"`
	Status      int       `json:"status" example:"404" doc:"The HTTP status"`
	Title       string    `json:"title" example:"Not found"`
	Retryable   bool      `json:"retryable" doc:"Whether the same request may succeed later"`
	Description string    `json:"description" doc:"When it comes about, and what to do"`
}

// Names of problems that are no kind of tool.Error by themselves. The others
// are named as their kind is.
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
)

var problemClasses = []ProblemClass{
	class(tool.Invalid, "", http.StatusUnprocessableEntity, "Invalid",
		"A definition, a body or a parameter is wrong. `path` points at the value; `errors` lists every fault where there "+
			"are several."),
	class(tool.NotFound, "", http.StatusNotFound, "Not found",
		"There is no such thing, or none that the caller may know of: what belongs to another tenant is answered in the "+
			"same words."),
	class(tool.Denied, "", http.StatusForbidden, "Denied",
		"The key lacks a permission, or policy says no."),
	class(tool.Conflict, "", http.StatusConflict, "Conflict",
		"The state of the thing does not allow it. Read it again, then decide."),
	class(tool.RateLimited, "", http.StatusTooManyRequests, "Rate limited",
		"Come back later; `Retry-After` says when, where that is known."),
	class(tool.Unavailable, "", http.StatusServiceUnavailable, "Unavailable",
		"Something behind the API is not answering."),
	class(tool.Timeout, "", http.StatusGatewayTimeout, "Timeout",
		"It took too long. What was begun may go on: send an `Idempotency-Key` with whatever must not happen twice."),
	class(tool.Unknown, "", http.StatusBadGateway, "Outcome unknown",
		"Whether the call had its effect is unknown. Look before calling again."),
	class(tool.Cancelled, "", http.StatusConflict, "Cancelled",
		"Somebody stopped it."),
	class(tool.InternalError, "", http.StatusInternalServerError, "Internal error",
		"A defect of the platform. The log has it under the trace id."),
	class(tool.Invalid, MalformedRequest, http.StatusBadRequest, "Malformed request",
		"The request cannot be read, for example because its body is missing or breaks off."),
	class(tool.Invalid, MalformedJSON, http.StatusBadRequest, "Malformed JSON",
		"The body is no JSON. `detail` names the line and the column."),
	class(tool.Denied, Unauthenticated, http.StatusUnauthorized, "Unauthenticated",
		"No API key came with the request, or one that opens nothing. Send it as `Authorization: Bearer tck_…`."),
	class(tool.NotFound, NoSuchEndpoint, http.StatusNotFound, "No such endpoint",
		"`/openapi.json` and `/docs` list the endpoints."),
	class(tool.NotFound, MethodNotAllowed, http.StatusMethodNotAllowed, "Method not allowed",
		"The endpoint has no such method; `Allow` lists those that it has."),
	class(tool.Invalid, NotAcceptable, http.StatusNotAcceptable, "Not acceptable",
		"The endpoint answers in none of the media types of `Accept`."),
	class(tool.Timeout, RequestTimeout, http.StatusRequestTimeout, "Request timeout",
		"The body did not arrive in time."),
	class(tool.Conflict, PreconditionFailed, http.StatusPreconditionFailed, "Precondition failed",
		"The thing is no longer what `If-Match` says: it was changed meanwhile. Read it again, then decide."),
	class(tool.Invalid, BodyTooLarge, http.StatusRequestEntityTooLarge, "Body too large",
		"The body exceeds the limit of the endpoint, which `detail` names."),
	class(tool.Invalid, URITooLong, http.StatusRequestURITooLong, "URI too long",
		"Path and query exceed the limit, which `detail` names."),
	class(tool.Invalid, UnsupportedMediaType, http.StatusUnsupportedMediaType, "Unsupported media type",
		"The body has to be `application/json`."),
	class(tool.Invalid, HeadersTooLarge, http.StatusRequestHeaderFieldsTooLarge, "Headers too large",
		"The headers exceed the limit, which `detail` names."),
	class(tool.Invalid, KeyMalformed, http.StatusBadRequest, "Malformed idempotency key",
		"`Idempotency-Key` has to be one value of 1 to 255 printable ASCII characters."),
	retryable(class(tool.Conflict, KeyInUse, http.StatusConflict, "Idempotency key in use",
		"A request with this key is being served. Send it again after `Retry-After`.")),
	class(tool.Invalid, KeyReused, http.StatusUnprocessableEntity, "Idempotency key reused",
		"The key was sent before with another request: another endpoint, parameter or body. "+
			"Use a new key for a new request."),
	class(tool.Conflict, AnswerWithheld, http.StatusConflict, "Answer withheld",
		"The request was served before, and its answer held a secret, which is kept nowhere. `instance` is what it made."),
	lasting(class(tool.Unavailable, EncryptionMissing, http.StatusServiceUnavailable, "Encryption not configured",
		"The server has no key-encryption key, so that it keeps no credentials. `detail` says what its operator is to "+
			"configure.")),
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

// lasting marks a problem that a retry does not solve: it lasts until it is
// fixed.
func lasting(c ProblemClass) ProblemClass {
	c.Retryable = false
	return c
}

func retryable(c ProblemClass) ProblemClass {
	c.Retryable = true
	return c
}

// ProblemClasses lists every problem that the API answers with.
func ProblemClasses() []ProblemClass { return slices.Clone(problemClasses) }

// FindProblemClass returns the class of a name, and whether there is one.
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
