package v1

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// ProblemType is the media type of a [Problem].
const ProblemType = "application/problem+json"

// Problem is the body of every error response (RFC 9457).
type Problem struct { //nolint:errname // The RFC's name for it.
	Type        string       `json:"type" doc:"Identifies the problem for programs: a link to one of those listed at /v1/problems" example:"/v1/problems/not_found"`
	Title       string       `json:"title" doc:"Short summary of the problem" example:"Not found"`
	Status      int          `json:"status" doc:"The HTTP status" example:"404"`
	Code        tool.Kind    `json:"code" doc:"What kind of problem it is, coarser than type" example:"not_found" enum:"invalid,not_found,denied,conflict,rate_limited,unavailable,timeout,unknown,cancelled,internal"`
	Detail      string       `json:"detail,omitempty" doc:"What went wrong, for people" example:"tool \"searchOrders\" not found"`
	Path        string       `json:"path,omitempty" doc:"JSON Pointer of the offending value in the request"`
	Permissions []string     `json:"permissions,omitempty" nullable:"false" doc:"Permissions that the key lacks, if that is the problem: any one of them suffices" example:"[\"tools.write\"]"`
	Quota       *QuotaUse    `json:"quota,omitempty" doc:"The quota of the tenant that is used up, if that is the problem"`
	Instance    string       `json:"instance,omitempty" doc:"The run, if the problem is the outcome of a call"`
	Retryable   bool         `json:"retryable" doc:"Whether the same request may be sent again, and may then succeed. False for a call that may have had an effect, unless its tool is pure or idempotent"`
	RetryAfter  float64      `json:"retry_after_s,omitempty" doc:"Earliest useful retry, in seconds"`
	TraceID     string       `json:"trace_id,omitempty" doc:"Identifies the request in the server's log" example:"4bf92f3577b34da6a3ce929d0e0e4736"`
	Errors      []FieldError `json:"errors,omitempty" doc:"Every fault found, when there are several"`
}

// FieldError is one fault of a request.
type FieldError struct {
	Path   string `json:"path,omitempty" doc:"JSON Pointer of the offending value; names a parameter outside the body"`
	Detail string `json:"detail"`
}

// Error implements the error interface.
func (p *Problem) Error() string { return string(p.Code) + ": " + cmp.Or(p.Detail, p.Title) }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the media type of a problem, independent of content
// negotiation.
func (p *Problem) ContentType(string) string { return ProblemType }

// GetHeaders returns the headers of the response.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(p.RetryAfter+0.999)))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="toolcrib"`)
	}
	return h
}

// ToolError returns the problem as an error of its kind, with the problem as
// its cause.
func (p *Problem) ToolError() *tool.Error {
	return &tool.Error{
		Kind: p.Code, Op: "api", Msg: cmp.Or(p.Detail, p.Title), Path: p.Path,
		RetryAfter: time.Duration(p.RetryAfter * float64(time.Second)), Sent: true, Answered: true, Acted: !p.Retryable,
		Err: p,
	}
}
